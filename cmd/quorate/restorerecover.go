package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/quorate/quorate/api/v1alpha1"
	"github.com/quorate/quorate/guard/restoring"
	"github.com/quorate/quorate/internal/recovercluster"
	"github.com/quorate/quorate/internal/restore"
	"github.com/quorate/quorate/internal/snapshot"
	"github.com/quorate/quorate/internal/store"
	"github.com/quorate/quorate/internal/talos"
)

type recoverOptions struct {
	bundle, store        string
	endpoint, region, ca string
	nodes, without       []string
}

func (o *recoverOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.bundle, "bundle", "", "file of the Talos secrets bundle, for --recover-cluster")
	flags.StringVar(&o.store, "store", "", "where the backups are: s3://bucket/prefix, or a folder, for --recover-cluster")
	flags.StringVar(&o.endpoint, "s3-endpoint", "", "URL of the object store; default: AWS's own of the region")
	flags.StringVar(&o.region, "s3-region", v1alpha1.DefaultRegion, "region of the object store")
	flags.StringVar(&o.ca, "s3-ca", "", "file of the certificates that the object store's is signed by; default: the system's")
	flags.StringArrayVar(&o.without, "without", nil, "leave a control plane out that does not come back, by its name or its endpoint, once for each; it must stay off until it is wiped. For --recover-cluster")
	flags.StringArrayVar(&o.nodes, "node-endpoint", nil, "machine API of a control plane, once for each; etcd is recovered on the first. Not needed where a restore goes on")
}

const s3Scheme = "s3://"

var (
	errNoBundle = errors.New("which cluster? Give the file of its Talos secrets bundle with --bundle")
	errNoStore  = errors.New("where are the backups? Give --store s3://bucket/prefix, or a folder")
)

func (o *recoverOptions) check() error {
	switch {
	case o.bundle == "":
		return errNoBundle
	case o.store == "" || o.store == s3Scheme:
		return errNoStore
	}
	return nil
}

// at is where the objects are; nil if they are in a folder.
func (o *recoverOptions) at() *restoring.StoreSettings {
	at, ok := strings.CutPrefix(o.store, s3Scheme)
	if !ok {
		return nil
	}
	bucket, prefix, _ := strings.Cut(at, "/")
	return &restoring.StoreSettings{Endpoint: o.endpoint, Region: o.region, Bucket: bucket, Prefix: strings.Trim(prefix, "/")}
}

// open is the store that the flags and the environment name.
func (o *recoverOptions) open() (store.Store, error) {
	at := o.at()
	if at == nil {
		return folderAt(o.store)
	}
	options := store.Options{Endpoint: at.Endpoint, Region: at.Region, Bucket: at.Bucket, Prefix: at.Prefix,
		AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"), SessionToken: os.Getenv("AWS_SESSION_TOKEN")}
	if o.ca != "" {
		ca, err := os.ReadFile(o.ca)
		if err != nil {
			return nil, fmt.Errorf("read the object store's authorities: %w", err)
		}
		options.CA = ca
	}
	return store.NewS3(options)
}

// folderAt is a folder that is there: one that was mistyped would be made, and be empty.
func folderAt(dir string) (store.Store, error) {
	if is, err := os.Stat(dir); err != nil || !is.IsDir() {
		return nil, usageError(fmt.Errorf("there is no folder %s. Give the one that has the backups, or --store %sbucket/prefix", dir, s3Scheme))
	}
	return store.NewFolder(dir)
}

func runRecover(cmd *cobra.Command, o recoverOptions, said liveOptions, p *person, output string) (err error) {
	if err := o.check(); err != nil {
		return usageError(err)
	}
	r, end, err := o.recovery(said, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	return recoverCluster(cmd.Context(), r, said, p, cmd.OutOrStdout(), output)
}

// recovery reads the bundle and reaches everything. end erases the snapshot in plain.
func (o *recoverOptions) recovery(said liveOptions, p *person) (r *recovercluster.Recovery, end func() error, err error) {
	data, err := os.ReadFile(o.bundle)
	if err != nil {
		return nil, nil, fmt.Errorf("read the secrets bundle: %w", err)
	}
	bundle, err := talos.LoadBundle(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", o.bundle, err)
	}
	key, err := snapshot.DeriveKey(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", o.bundle, err)
	}
	found, err := snapshot.Authorities(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", o.bundle, err)
	}
	at, err := o.open()
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "quorate-restore-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder for the snapshot: %w", err)
	}
	folder, err := restore.OpenFolder(filepath.Join(dir, "job"), filepath.Join(dir, "keys"))
	if err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	nodes := &restore.Talos{Bundle: bundle}
	r = &recovercluster.Recovery{
		Store: at, At: o.at(), Key: key, Authorities: restoring.Authorities{Etcd: found.Etcd, Kubernetes: found.K8s, OS: found.OS},
		Nodes: nodes, Etcd: nodes, Folder: folder, Snapshot: said.snapshot, Endpoints: o.nodes, Without: o.without,
		WithoutUndo: said.withoutUndo, Snapshots: nodes.Snapshot, ClusterID: bundle.ClusterID(),
		Requester: requesterHere(), Quorate: buildVersion(version, debug.ReadBuildInfo), Now: time.Now, Report: recoverReport(p.err),
	}
	return r, func() error { return errors.Join(nodes.Close(), os.RemoveAll(dir)) }, nil
}
