package restoring

import "testing"

// After a restore without Kubernetes a person is told what keeps the controllers from its
// marker, unless a backup that comes back leads there.
//
// covers: C-9
func TestAfterwards(t *testing.T) {
	here := StoreSettings{Endpoint: "https://s3.example.com", Region: "us-east-1", Bucket: "backups", Prefix: "prod"}
	there := here
	there.Bucket = "old"
	leads := ReturnedBackup{"nightly", Returned{Store: &here, Secret: "keys"}}
	const none = "The snapshot has no TalosEtcdBackup of cluster prod in namespace default. " + mendText
	const unread = "Whether a TalosEtcdBackup of cluster prod in the snapshot leads to the marker of this restore could not be read. " + mendText
	for _, tt := range []struct {
		name    string
		backups []ReturnedBackup
		more    bool
		want    string
	}{
		{"one leads here", []ReturnedBackup{leads}, false, ""},
		{"one of two leads here", []ReturnedBackup{{"hourly", Returned{Store: &there}}, {"encrypted", Returned{}}, leads}, true, ""},
		{"none", nil, false, none},
		{"of another cluster", []ReturnedBackup{{"nightly", Returned{Absent: true}}}, false, none},
		{"another bucket", []ReturnedBackup{{"nightly", Returned{Store: &there, Secret: "keys"}}}, false,
			"Of backup nightly in the snapshot its bucket is backups now and was old then. " + mendText},
		{"without its Secret", []ReturnedBackup{{"nightly", Returned{Store: &here, Secret: "keys", NoSecret: true}}}, false,
			"Of backup nightly in the snapshot the Secret default/keys is missing. " + mendText},
		{"unreadable", []ReturnedBackup{{"nightly", Returned{}}}, false, unread},
		{"another bucket, and an unreadable one", []ReturnedBackup{{"hourly", Returned{Store: &there}}, {"nightly", Returned{}}}, false, unread},
		{"perhaps left out", nil, true, unread},
	} {
		if got := Afterwards(here, "prod", "default", tt.backups, tt.more); got != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, got, tt.want)
		}
	}
}
