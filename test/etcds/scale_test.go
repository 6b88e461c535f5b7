package etcds

import (
	"slices"
	"testing"
)

//
func TestScaleIn(t *testing.T) {
	p := newPlant(t, 3)
	p.scale(1)
	p.settled(1)
	claims, err := p.claims(t.Context())
	must(t, err)
	if want := []string{"data-main-0"}; !slices.Equal(claims, want) {
		t.Errorf("volumes %v, want %v", claims, want)
	}
}
