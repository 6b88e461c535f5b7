package rejoin

import (
	"bytes"
	"os"
	"testing"
)

// What bytes are taken for a record decides what is taken for a torn end.
func TestHoldsRecord(t *testing.T) {
	dir := t.TempDir()
	l := newLog(t, dir)
	l.save(2, put(50), remove(me))
	l.close()
	data, err := os.ReadFile(l.last())
	must(t, err)
	for _, at := range framesOf(data)[1:] { // the CRC record holds nothing
		length, padding := frameOf(data[at:])
		one := data[at : at+frameBytes+int(length+padding)]
		if !holdsRecord(append(bytes.Repeat([]byte{0xff}, 64), one...)) {
			t.Errorf("the record at %d was not found", at)
		}
		if holdsRecord(one[:len(one)-frameBytes]) {
			t.Errorf("half of the record at %d was found", at)
		}
	}
	if holdsRecord(make([]byte, 4096)) || holdsRecord(put(4096).GetData()) {
		t.Error("a record was found in a value")
	}
}
