package restoring

import (
	"fmt"
)

// recovering has the target start etcd from the snapshot. It ends in step, when etcd
// itself proves it. Until the request is out, all that wiping wants must still be so.
func (t *turn) recovering() {
	target := t.node(t.Target)
	if t.BootstrapAt != nil {
		t.awaitRecovery(target, t.seen.Nodes[t.Target])
	}
	if t.BootstrapAt == nil && t.Failure == "" && t.empty() {
		t.bring(t.seen.Nodes[t.Target])
	}
}

func (t *turn) bring(seen Seen) {
	if t.UploadBoot != seen.BootID {
		t.ask(ActUpload, t.Target, "")
		return
	}
	t.BootstrapAt, t.BootstrapBoot, t.BootstrapOK = &t.now, seen.BootID, false
	t.ask(ActBootstrap, t.Target, "")
}

// awaitRecovery waits for etcd after the request, and takes the request back where it
// is lost, by a reboot or otherwise.
func (t *turn) awaitRecovery(target *Node, seen Seen) {
	since := t.now.Sub(*t.BootstrapAt)
	switch {
	case seen.Mute != "":
		t.wait(t.Target + ", which is to recover etcd, does not answer: " + seen.Mute)
	case seen.Unread != "":
		t.wait(t.Target + " does not say whether it has etcd data: " + seen.Unread)
	case seen.Data && since < t.l.Grace:
		t.wait("etcd on " + t.Target + " has data and has yet to prove that it is recovered" + ill(seen))
	case seen.serves():
		t.unasked(seen)
	case seen.Data && seen.unwitnessed():
		t.unwitnessed(seen)
	case seen.Data:
		t.anew(target, seen)
	case seen.BootID != t.BootstrapBoot, since >= t.l.Grace:
		t.BootstrapAt, t.UploadBoot = nil, ""
	case !t.BootstrapOK && since >= t.l.Doubt:
		t.BootstrapAt = nil
	default:
		t.wait(t.Target + " recovers etcd from the snapshot")
	}
}

// anew wipes the target again: it has data and no etcd that is the recovered one, as
// after a snapshot whose hash did not match. Its etcd or its machine API has said so: an
// etcd that cannot be reached may be the recovered one.
func (t *turn) anew(target *Node, seen Seen) {
	if t.TargetWipes >= t.l.TargetWipes {
		t.Failure = fmt.Sprintf("%s has etcd data and no recovered etcd%s, also after it was wiped again %d times.", t.Target, ill(seen), t.TargetWipes)
		return
	}
	t.TargetWipes++
	t.BootstrapAt, t.UploadBoot = nil, ""
	t.reset(target, "it has data and no recovered etcd"+ill(seen))
	t.extra()
}

func ill(seen Seen) string {
	switch {
	case seen.Etcd != nil:
		return fmt.Sprintf(" (it answers at revision %d)", seen.Etcd.Revision)
	case seen.Ill == "":
		return ""
	case seen.Service != nil:
		return ": " + seen.Ill + "; " + seen.Service.String()
	case seen.Unheard != "":
		return ": " + seen.Ill + "; " + seen.Unheard
	}
	return ": " + seen.Ill
}
