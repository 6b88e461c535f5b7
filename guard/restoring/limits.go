package restoring

import "time"

// Limits bound a restore; 0 is the default.
type Limits struct {
	// Recover is for wiping and recovering (60m), All for all of the job (150m).
	Recover, All time.Duration
	// Repeat is after which a wipe is asked for again that does not happen (10m), and
	// Doubt the same if the node did not answer the request (30s).
	Repeat, Doubt time.Duration
	// Leave is for the own node's leaving (20m).
	Leave time.Duration
	// Grace is how long etcd may take to answer once it was asked to recover (5m).
	Grace time.Duration
	// Stale is between two wipes of a node that has the old data (10m), Join how long
	// an empty one may take to come by itself: Talos gives up after 30 min (35m).
	Stale, Join time.Duration
	// Learner is how long a member may be no voter: Talos promotes for 10 min (15m).
	Learner time.Duration
	// Agents is for restarting kubelets (10m).
	Agents time.Duration
	// TargetWipes is how often the target may be wiped to recover it anew (3).
	TargetWipes int
}

// Filled are the limits with the default ones where they are 0.
func (l Limits) Filled() Limits {
	for _, d := range []struct {
		limit     *time.Duration
		otherwise time.Duration
	}{
		{&l.Recover, 60 * time.Minute}, {&l.All, 150 * time.Minute}, {&l.Repeat, 10 * time.Minute}, {&l.Doubt, 30 * time.Second},
		{&l.Leave, 20 * time.Minute}, {&l.Grace, 5 * time.Minute}, {&l.Stale, 10 * time.Minute}, {&l.Join, 35 * time.Minute},
		{&l.Learner, 15 * time.Minute}, {&l.Agents, 10 * time.Minute},
	} {
		if *d.limit == 0 {
			*d.limit = d.otherwise
		}
	}
	if l.TargetWipes == 0 {
		l.TargetWipes = 3
	}
	return l
}
