package restoring

import (
	"slices"
	"testing"
)

const (
	absent = "SnapshotWithoutBackup: The snapshot has no TalosEtcdBackup nightly of cluster prod in namespace default: after the rewind the controllers would find neither it nor the marker of this restore, and would not end it. " +
		"Take a snapshot from after it was made. Else restore without Kubernetes, and make it as it is now once the API answers: " + recoverCommand
	noSecret = "SnapshotWithoutCredentials: The snapshot has no Secret default/keys, by which backup nightly reaches its store there: after the rewind the controllers could not look for the marker of this restore, and would not end it. " +
		"Take a snapshot from after it was made. Else restore without Kubernetes, and make it once the API answers: " + recoverCommand
	unread = "What the snapshot says of backup nightly could not be read, as where objects are encrypted at rest. " +
		"The controllers look for the marker of this restore where it points to: if spec.objectStore was changed since, set it to what it is now once the API answers."
)

// another is what is said of a store that differs in these settings.
func another(changed string) string {
	return "BackupInAnotherStore: In the snapshot backup nightly points to another store: " + changed + ". After the rewind the controllers would look for the marker of this restore there, and would not end it. " +
		"Take a snapshot from after the change, or set spec.objectStore to what it was, if that leads to the same objects. Else restore without Kubernetes, and set spec.objectStore to what it is now once the API answers: " + recoverCommand
}

// What the rewind brings back has to lead to the marker. What cannot be read is a doubt,
// and no refusal.
//
// covers: C-9
func TestReturned(t *testing.T) {
	here := StoreSettings{Endpoint: "https://s3.example.com", Region: "us-east-1", Bucket: "backups", Prefix: "prod"}
	at := func(change func(*StoreSettings)) *Returned {
		there := here
		change(&there)
		return &Returned{Store: &there, Secret: "keys"}
	}
	for _, tt := range []struct {
		name   string
		found  *Returned
		blocks []string
		doubts []string
	}{
		{"nobody has looked", nil, nil, nil},
		{"the same", at(func(*StoreSettings) {}), nil, nil},
		{"the region left out", at(func(s *StoreSettings) { s.Region = "" }), nil, nil},
		{"a slash behind the endpoint", at(func(s *StoreSettings) { s.Endpoint += "/" }), nil, nil},
		{"another bucket", at(func(s *StoreSettings) { s.Bucket = "old" }), []string{another("its bucket is backups now and was old then")}, nil},
		{"another endpoint", at(func(s *StoreSettings) { s.Endpoint = "http://s3.example.com" }),
			[]string{another("its endpoint is https://s3.example.com now and was http://s3.example.com then")}, nil},
		{"another region", at(func(s *StoreSettings) { s.Region = "eu-1" }), []string{another("its region is us-east-1 now and was eu-1 then")}, nil},
		{"no prefix", at(func(s *StoreSettings) { s.Prefix = "" }), []string{another("its prefix is prod now and was left out then")}, nil},
		{"all of it", at(func(s *StoreSettings) { *s = StoreSettings{Region: "eu-1", Bucket: "old"} }),
			[]string{another("its endpoint is https://s3.example.com now and was left out then, its region is us-east-1 now and was eu-1 then, its bucket is backups now and was old then, its prefix is prod now and was left out then")}, nil},
		{"not there", &Returned{Absent: true}, []string{absent}, nil},
		{"unreadable", &Returned{}, nil, []string{unread}},
		{"without its Secret", &Returned{Store: &here, Secret: "keys", NoSecret: true}, []string{noSecret}, nil},
		{"another bucket, without its Secret", &Returned{Store: &StoreSettings{Endpoint: here.Endpoint, Bucket: "old", Prefix: "prod"}, Secret: "keys", NoSecret: true},
			[]string{another("its bucket is backups now and was old then"), noSecret}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := possibleProspect()
			p.Namespace, p.Store, p.Returned = "default", here, tt.found
			var got []string
			for _, b := range Blocked(p) {
				got = append(got, string(b.Reason)+": "+b.Message)
			}
			if !slices.Equal(got, tt.blocks) {
				t.Errorf("got  %q\nwant %q", got, tt.blocks)
			}
			if got := Doubts(p); !slices.Equal(got, tt.doubts) {
				t.Errorf("doubts: got  %q\nwant %q", got, tt.doubts)
			}
		})
	}
}
