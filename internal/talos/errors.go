package talos

import "errors"

// What a caller branches on. Each error of a client is one of these, or the
// context's own if the caller ended it, with what was seen and the way out.
var (
	// ErrUnreachable: the node did not answer: refused, silent, or cut before the
	// answer. Whether the call took effect is open.
	ErrUnreachable = errors.New("no answer from the node")
	// ErrDenied: the node answers, and the client's role is not enough.
	ErrDenied = errors.New("the node denies it")
	// ErrWrongCA: one side's certificate is not signed by what the other trusts.
	ErrWrongCA = errors.New("the certificates are of another authority")
	// ErrExpired: one side's certificate is not valid now, or not yet.
	ErrExpired = errors.New("a certificate is not valid at this time")
	// ErrWrongCertificate: a certificate is refused for another reason than these,
	// as that it does not name the address.
	ErrWrongCertificate = errors.New("a certificate is refused")
	// ErrNotControlPlane: a worker, or a machine without a configuration.
	ErrNotControlPlane = errors.New("the node is no control plane")
	// ErrNotFound: the node answers, and has no such thing.
	ErrNotFound = errors.New("the node has no such thing")
	// ErrNotReady: the node answers, and is not far enough in its boot: wait.
	ErrNotReady = errors.New("the node is not ready for it yet")
	// ErrLate: the node answers that the time it gives itself was over, or that of the
	// call by its clock. Whether the call took effect is open.
	ErrLate = errors.New("the node ran out of time")
	// ErrHasData: the node's etcd has data, which does not mean a recovered cluster: ask
	// that etcd.
	ErrHasData = errors.New("the node has etcd data already")
	// ErrFailed: the node answers with an error that Talos gives no code of its own.
	ErrFailed = errors.New("the node answers with an error")
	// ErrOtherCluster: the node names another Talos cluster than the bundle's.
	ErrOtherCluster = errors.New("the node is of another cluster")
	// ErrShortDeadline: nothing was sent, as the caller leaves too little time.
	ErrShortDeadline = errors.New("the deadline is too short")
	// ErrBundle: the secrets bundle cannot be used.
	ErrBundle = errors.New("the secrets bundle cannot be used")
	// ErrClosedDoor: nothing was sent, as this door does not lead to the method.
	ErrClosedDoor = errors.New("this client may not call it")
)

// waysOut say what to do about each.
var waysOut = map[error]string{
	ErrUnreachable:      "check that the machine is on and that its port is open from here",
	ErrDenied:           "use a bundle of this cluster and a role that may do it",
	ErrWrongCA:          "check the address and that the secrets bundle is this cluster's; a machine that was reset serves a certificate of its own",
	ErrExpired:          "compare the clocks of the node and of this process",
	ErrWrongCertificate: "reach the node by an address that its certificate names",
	ErrNotControlPlane:  "ask a control plane",
	ErrNotFound:         "it is there once the service that owns it is healthy",
	ErrNotReady:         "wait for the node to boot, and see its console if it does not",
	ErrLate:             "ask again, and see the node's console if it stays so",
	ErrHasData:          "ask its etcd whether it is the recovered one, and wipe the node if it is not",
	ErrFailed:           "see the node's logs",
	ErrOtherCluster:     "check the address and that the secrets bundle is this cluster's",
	ErrShortDeadline:    "give the call more time",
}
