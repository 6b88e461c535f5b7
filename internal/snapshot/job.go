package snapshot

import "time"

// Role is the argument that makes a program a worker's child.
const Role = "snapshot-worker"

// What a child can be asked for.
const (
	JobInspect = "inspect"
	JobReseal  = "reseal"
	JobKeys    = "keys"
)

// Job is what the parent writes to the child: one line of JSON. After it the child's
// standard input stays open until the parent ends, which ends the child.
type Job struct {
	Do   string `json:"do"`
	Path string `json:"path"`
	// Scratch is a folder that the child may fill, and the parent erases; Out is the
	// file that it makes; Bump is what is added to the revision.
	Scratch string `json:"scratch,omitempty"`
	Out     string `json:"out,omitempty"`
	Bump    int64  `json:"bump,omitempty"`
	Prefix  string `json:"prefix,omitempty"`
	Limits  Limits `json:"limits"`
}

// Limits bound a child.
type Limits struct {
	// Memory is the most that it may ask the system for, in bytes; what it uses is far
	// less. 0 is DefaultMemory.
	Memory int64 `json:"memory"`
	// Time is the most that one piece of work may take; 0 is DefaultTime.
	Time time.Duration `json:"time"`
}

// What a child may use unless it is told otherwise. A snapshot of 8 GiB on a slow disk
// takes minutes.
const (
	DefaultMemory = 256 << 20
	DefaultTime   = 15 * time.Minute
)

func (l Limits) orDefaults() Limits {
	if l.Memory == 0 {
		l.Memory = DefaultMemory
	}
	if l.Time == 0 {
		l.Time = DefaultTime
	}
	return l
}
