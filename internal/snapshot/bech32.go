package snapshot

import "strings"

// letters are those of bech32 (BIP 173), in which age writes its keys and which it is
// the only way to hand it one.
const letters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

// bech32 writes data under a prefix in small letters.
func bech32(prefix string, data []byte) string {
	groups := fives(data)
	check := checksum(prefix, groups)
	var b strings.Builder
	b.WriteString(prefix + "1")
	for _, g := range append(groups, check[:]...) {
		b.WriteByte(letters[g])
	}
	return strings.ToUpper(b.String())
}

// fives cuts data into groups of five bits, the last one filled up with zeros.
func fives(data []byte) (groups []byte) {
	var held, bits uint
	for _, b := range data {
		held, bits = held<<8|uint(b), bits+8
		for bits >= 5 {
			bits -= 5
			groups = append(groups, byte(held>>bits&31))
		}
	}
	if bits > 0 {
		groups = append(groups, byte(held<<(5-bits)&31))
	}
	return groups
}

// checksum is the six groups at the end: what makes the whole divisible by the code's
// polynomial.
func checksum(prefix string, groups []byte) (check [6]byte) {
	var all []byte
	for i := range len(prefix) {
		all = append(all, prefix[i]>>5)
	}
	all = append(all, 0)
	for i := range len(prefix) {
		all = append(all, prefix[i]&31)
	}
	rest := remainder(append(append(all, groups...), make([]byte, len(check))...)) ^ 1
	for i := range check {
		check[i] = byte(rest >> (5 * (len(check) - 1 - i)) & 31)
	}
	return check
}

func remainder(groups []byte) uint32 {
	rest := uint32(1)
	for _, g := range groups {
		top := rest >> 25
		rest = rest&0x1ffffff<<5 ^ uint32(g)
		for i, part := range [...]uint32{0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3} {
			if top>>i&1 == 1 {
				rest ^= part
			}
		}
	}
	return rest
}
