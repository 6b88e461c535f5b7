package main

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/test/fleet"
	"github.com/quorate/quorate/test/world/script"
)

// scenes are the demonstration, in order.
func scenes(f *fleet.Fleet) []scene {
	return []scene{declared(f), refusals, replacement(f), removal, rejoined(f), grown(f)}
}

func says(texts ...string) script.Want { return script.Want{Says: texts} }

// refused is the answer of a command that these rules turn away.
func refused(rules []string, texts ...string) script.Want {
	return script.Want{Refused: true, Rules: rules, Says: texts}
}

func declared(f *fleet.Fleet) scene {
	return scene{
		title: "Three control planes",
		line:  "Three Talos machines run, with an etcd member each. They are declared, and a person has let them in.",
		beats: []beat{
			apply{
				name:  "a cluster and its machines",
				after: happens{"an administrator puts the Talos secrets bundle into Secret factory-talos-secrets, key bundle", func(ctx context.Context) error { return f.Client.Create(ctx, f.Secret()) }},
				objects: func() []client.Object {
					return append([]client.Object{f.TalosCluster(3)}, machines(f, "cp-1", "cp-2", "cp-3")...)
				},
			},
			ready,
			types{Name: "the machines", Command: "kubectl get talosmachines -o wide", Want: says("cp-1", "cp-2", "cp-3")},
			types{Name: "an application with a pod on each", As: script.Admin, Command: "kubectl apply -f -", Input: web, Want: says("deployment.apps/web created")},
			types{Name: "it runs", As: script.Admin, Command: "kubectl rollout status deployment/web --timeout=60s", Want: says("successfully rolled out")},
			lists{"before", []string{"cp-1", "cp-2", "cp-3"}},
		},
	}
}

// ready is the end of what is on its way.
var ready = types{
	Name: "all is as asked", Command: "kubectl wait taloscluster/factory --for=condition=Ready --timeout=100s", Want: says("condition met"),
}

const (
	deletes   = "kubectl delete talosmachine cp-3"
	annotates = "kubectl annotate talosmachine cp-3 quorate.dev/allow-delete=true"
)

var refusals = scene{
	title: "Not without saying so, and not below the count",
	line:  "Deleting a TalosMachine takes its etcd member along, so it must be meant, and the cluster must be able to bear it.",
	beats: []beat{
		types{
			Name: "without the annotation", Command: deletes,
			Want: refused([]string{"machine-delete-below-count", "machine-delete-wants-annotation"},
				"Deleting machine cp-3 is refused", "run "+annotates+" and delete again"),
		},
		types{Name: "the annotation", Command: annotates, Want: says("cp-3 annotated")},
		types{
			Name: "below the declared count", Command: deletes,
			Want: refused([]string{"machine-delete-below-count"}, "2 approved control planes would remain, and cluster factory declares 3",
				"Approve a replacement control plane first, or lower spec.controlPlane.count (to 1, 3 or 5)"),
		},
	},
}

func replacement(f *fleet.Fleet) scene {
	return scene{
		title: "A replacement first",
		line:  "A fourth machine joins etcd by itself, and is approved: now one may go, and the count holds.",
		beats: []beat{
			apply{
				name:    "the fourth machine",
				after:   happens{"machine cp-4 is installed and boots", func(ctx context.Context) error { _, err := f.Add(ctx, "cp-4", false); return err }},
				objects: func() []client.Object { return machines(f, "cp-4") },
			},
			types{Name: "it is a voter", Command: "kubectl wait talosmachine/cp-4 --for=condition=Ready --timeout=60s", Want: says("condition met")},
			types{
				Name: "one too many", Command: `kubectl get taloscluster factory -o 'jsonpath={.status.conditions[?(@.type=="Ready")].message}'`,
				Settles: true, Want: says("Control planes approved: 4, asked for by spec.controlPlane.count: 3", "Delete a TalosMachine that is not needed"),
			},
			lists{"with the fourth", []string{"cp-1", "cp-2", "cp-3", "cp-4"}},
		},
	}
}

const eventColumns = "-o custom-columns=TYPE:.type,REASON:.reason,MESSAGE:.message"

var removal = scene{
	title: "Deleted",
	line:  "Storage is moved off first, by whoever asked for that; then the machine is drained, leaves etcd by itself, and its object goes.",
	beats: []beat{
		types{Name: "hold it until storage has moved", Command: "kubectl annotate talosmachine cp-3 evacuate.quorate.dev/storage=moving", Want: says("cp-3 annotated")},
		types{Name: "cp-3 is deleted", Command: deletes + " --wait=false", Want: says(`"cp-3" deleted`)},
		types{
			Name: "it waits", Want: says("condition met"),
			Command: `kubectl wait talosmachine/cp-3 '--for=jsonpath={.status.conditions[?(@.type=="Removal")].reason}=Evacuating' --timeout=60s`,
		},
		lists{"nothing was touched", []string{"cp-1", "cp-2", "cp-3", "cp-4"}},
		types{Name: "storage has moved", Command: "kubectl annotate talosmachine cp-3 evacuate.quorate.dev/storage-", Want: says("cp-3 annotated")},
		types{Name: "cp-3 goes", Command: "kubectl wait talosmachine/cp-3 --for=delete --timeout=100s", Want: says("condition met")},
		types{Name: "it is gone", Command: "kubectl get talosmachine cp-3", Want: refused(nil, "NotFound")},
		lists{"after", []string{"cp-1", "cp-2", "cp-4"}},
		asked{"it left by itself", []string{"cp-3 EtcdLeaveCluster"}},
		types{
			Name: "what was told of it", As: script.Admin, Settles: true,
			Command: "kubectl get events --field-selector involvedObject.kind=TalosMachine,involvedObject.name=cp-3 --sort-by=.metadata.creationTimestamp " + eventColumns,
			Want: says("RemovalApproved", "Node cp-3 is drained", "NodeStillHasClusterCredentials", "cp-3 (Node cp-3) was removed from etcd, and still holds the cluster's credentials",
				"Reset the node or power it off"),
		},
		types{Name: "no pod is left there", As: script.Admin, Command: "kubectl get pods --field-selector spec.nodeName=cp-3", Want: says("No resources found")},
		types{Name: "the application is whole", As: script.Admin, Command: "kubectl rollout status deployment/web --timeout=60s", Want: says("successfully rolled out")},
		types{Name: "the Node takes no pods", As: script.Admin, Command: "kubectl get node cp-3", Want: says("SchedulingDisabled")},
		ready,
	},
}

func rejoined(f *fleet.Fleet) scene {
	return scene{
		title: "Rebooted instead of reset",
		line:  "A Talos control plane that boots joins etcd by itself. The ledger knows that it was removed, and it is removed again.",
		beats: []beat{
			rejoins{machine: "cp-3", reboot: happens{"somebody reboots machine cp-3", func(ctx context.Context) error { return f.Talos.Node("cp-3").Reboot(ctx) }}},
			lists{"removed again", []string{"cp-1", "cp-2", "cp-4"}},
			types{
				Name: "what was told of it", As: script.Admin, Settles: true,
				Command: "kubectl get events --field-selector involvedObject.kind=TalosCluster,reason=MemberRejoined " + eventColumns,
				Want:    says("Warning", "was removed before, has joined again, and is removed again. Reset its node or power it off"),
			},
			types{
				Name: "the ledger has both", Settles: true,
				Command: `kubectl get taloscluster factory -o 'jsonpath={range .status.removedMembers[*]}{.name} {.id} {.state}{"\n"}{end}'`,
				Want:    says("cp-3", "confirmed"),
			},
		},
	}
}

func grown(f *fleet.Fleet) scene {
	return scene{
		title: "The count raised, and new machines",
		line:  "The old cp-3, wiped, is a new machine; a fifth one comes too.",
		beats: []beat{
			types{Name: "five are asked for", Command: `kubectl patch taloscluster/factory --type=merge -p '{"spec":{"controlPlane":{"count":5}}}'`, Want: says("patched")},
			types{Name: "two are missing", Command: "kubectl wait taloscluster/factory --for=condition=Ready=false --timeout=60s", Want: says("condition met")},
			apply{
				name: "both are let in",
				after: happens{"machine cp-3 is wiped and installed anew; machine cp-5 is installed; both boot", func(ctx context.Context) error {
					if err := f.Reinstall("cp-3"); err != nil {
						return err
					}
					_, err := f.Add(ctx, "cp-5", false)
					return err
				}},
				objects: func() []client.Object { return machines(f, "cp-3", "cp-5") },
			},
			types{Name: "pods may run there again", As: script.Admin, Command: "kubectl uncordon cp-3", Want: says("uncordoned")},
			ready,
			lists{"at the end", []string{"cp-1", "cp-2", "cp-3", "cp-4", "cp-5"}},
			types{Name: "the cluster", Command: "kubectl get taloscluster factory", Want: says("True")},
		},
	}
}
