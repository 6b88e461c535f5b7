package talos

import (
	"errors"

	"github.com/siderolabs/talos/pkg/machinery/api/common"
)

// errEmpty is an answer without what was asked for, which no Talos gives. Read as an
// empty list it would say that every member is gone.
var errEmpty = errors.New("the answer is empty")

// message is one node's part of an answer.
type message interface{ GetMetadata() *common.Metadata }

// only is the part of the one node that was asked. A proxy that asks several puts a
// node's error there.
func only[M message](messages []M) (M, error) {
	var none M
	if len(messages) == 0 {
		return none, errEmpty
	}
	if text := messages[0].GetMetadata().GetError(); text != "" {
		return none, errors.New(text)
	}
	return messages[0], nil
}
