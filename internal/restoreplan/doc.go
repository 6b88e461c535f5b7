// Package restoreplan says what a live restore of a cluster's etcd would do, before
// anybody agrees to it: its steps in plain words, what is lost, and what stands in its
// way. A plan is values alone, for a command line and for a web page. Making one reads,
// as the caller, and changes nothing; what the caller may not read is said and left out.
package restoreplan
