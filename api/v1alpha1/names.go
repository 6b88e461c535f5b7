package v1alpha1

// Annotations.
const (
	// AnnotationAllowDelete, set to "true" on a TalosMachine, says that its
	// deletion is meant. Without it DELETE is refused.
	AnnotationAllowDelete = "quorate.dev/allow-delete"
	// AnnotationReconcileRequested asks for one more reconcile; a TalosMachine
	// echoes its value in status.observedReconcileRequest.
	AnnotationReconcileRequested = "quorate.dev/reconcile-requested"
	// AnnotationBackupRequested asks for a snapshot now; a TalosEtcdBackup echoes its
	// value in status.observedBackupRequest once it is taken and proved.
	AnnotationBackupRequested = "quorate.dev/backup-requested"
	// AnnotationHeldByRestore is on what a restore brought back with unfinished work:
	// a TalosMachine that is being deleted, an Etcd. Nothing that cannot be undone is
	// done for it before a person takes it away. Its value is the restore's epoch.
	AnnotationHeldByRestore = "quorate.dev/held-by-restore"
	// AnnotationRelease, with the epoch that holds a TalosOperation, asks its
	// controller to let it go on; with any value if it is paused.
	AnnotationRelease = "quorate.dev/release"
	// AnnotationRequestedBy on a TalosOperation is the user name of who ordered it. The
	// gate lets nobody give another name than their own.
	AnnotationRequestedBy = "quorate.dev/requested-by"
)

// Finalizers.
const (
	// FinalizerEtcd keeps an Etcd until its members have left safely.
	FinalizerEtcd = "quorate.dev/etcd"
	// FinalizerMachine keeps a TalosMachine until its etcd member is gone.
	FinalizerMachine = "quorate.dev/machine"
	// FinalizerEtcdRestore keeps a TalosOperation while its restore is at work.
	FinalizerEtcdRestore = "quorate.dev/etcd-restore"
)

// VerbOverride is the verb on talosclusters that a requester needs to create an
// operation that destroys state, such as an etcd restore.
const VerbOverride = "override"
