package main

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// watch is the most memory of this process that no file backs, in bytes, until it is
// stopped.
func watch(stop <-chan struct{}) (peak int64) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		peak = max(peak, anonymous())
		select {
		case <-stop:
			return peak
		case <-tick.C:
		}
	}
}

// anonymous is RssAnon; 0 where the system does not tell.
func anonymous() int64 {
	data, _ := os.ReadFile("/proc/self/status")
	_, rest, found := strings.Cut(string(data), "RssAnon:")
	if !found {
		return 0
	}
	kib, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	return kib << 10
}
