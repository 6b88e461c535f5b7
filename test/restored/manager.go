package restored

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/quorate/quorate/test/cluster"
)

// Names in the manager's pod.
const (
	// Container is the manager's.
	Container = "manager"
	// JobFolder is where its jobs keep what has to outlive the container.
	JobFolder = "/var/lib/quorate"

	image         = "quorate"
	account       = "quorate-controller"
	accountFolder = "/var/run/quorate"
	jobVolume     = "job"
)

// errImage is the error of an image that stands for no program.
var errImage = errors.New("no program stands for the image")

// programs run the manager, and scripts of /bin/sh.
func (w *World) programs(of string, command []string) (string, error) {
	switch {
	case of == image:
		return w.binary, nil
	case len(command) > 0 && command[0] == "/bin/sh":
		return command[0], nil
	}
	return "", fmt.Errorf("pull %s: %w", of, errImage)
}

// kubeconfig is the pod's account: its token, and the Service's address on that machine.
// Paths are those in the pod.
func (w *World) kubeconfig(address string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: pod
contexts: [{name: pod, context: {cluster: pod, user: pod}}]
clusters: [{name: pod, cluster: {server: "https://%s", certificate-authority: %s/ca.crt}}]
users: [{name: pod, user: {tokenFile: %s/token}}]
`, address, accountFolder, accountFolder)
}

// configMapOf is the ConfigMap with a machine's kubeconfig.
func configMapOf(machine string) string { return "kubeconfig-" + machine }

func (w *World) installKubeconfigs(ctx context.Context) error {
	config, err := w.Config()
	if err != nil {
		return err
	}
	for _, n := range w.Talos.Nodes() {
		err := w.Client.Create(ctx, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: System, Name: configMapOf(n.Name)},
			Data:       map[string]string{"kubeconfig": w.kubeconfig(n.ServiceAddress()), "ca.crt": string(config.CAData)},
		})
		if err != nil {
			return fmt.Errorf("install the kubeconfig of %s: %w", n.Name, err)
		}
	}
	return nil
}

// pod is a replica on a machine, as restricted as its namespace wants it.
func (w *World) pod(name, machine string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: System, Name: name, Labels: map[string]string{"app.kubernetes.io/name": "quorate", "app.kubernetes.io/component": "manager"}},
		Spec: corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](65532), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			NodeName: w.Talos.Node(machine).NodeName(), ServiceAccountName: account, TerminationGracePeriodSeconds: ptr.To[int64](10),
			Volumes: []corev1.Volume{
				{Name: jobVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
				{Name: "account", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
					{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: ptr.To[int64](3607)}},
					{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: configMapOf(machine)}}},
				}}}},
			},
			Containers: []corev1.Container{w.container()},
		},
	}
}

// container listens at the pod's own address, but for the webhook.
func (w *World) container() corev1.Container {
	return corev1.Container{
		Name: Container, Image: image,
		Args: append([]string{
			"manager", "--kubeconfig=" + accountFolder + "/kubeconfig", "--webhook-bind-address=" + w.webhook, "--ip-addresses=127.0.0.1",
			"--health-bind-address=0.0.0.0:8081", "--metrics-bind-address=0.0.0.0:8080", "--drain-delay=1s", "--certificate-poll=1s",
			"--restore-dir=" + JobFolder + "/restores", "--restore-keys-dir=" + JobFolder + "/keys",
		}, w.options.ManagerFlags...),
		Env: []corev1.EnvVar{
			field("POD_NAME", "metadata.name"), field("POD_UID", "metadata.uid"), field("POD_NAMESPACE", "metadata.namespace"),
			field("POD_SERVICE_ACCOUNT", "spec.serviceAccountName"), field("NODE_NAME", "spec.nodeName"),
		},
		VolumeMounts: []corev1.VolumeMount{{Name: jobVolume, MountPath: JobFolder}, {Name: "account", MountPath: accountFolder, ReadOnly: true}},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/readyz", Port: intstr.FromInt32(8081)}},
			PeriodSeconds: 2, FailureThreshold: 1, TimeoutSeconds: 3,
		},
		LivenessProbe: &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8081)}},
			PeriodSeconds: 10, FailureThreshold: 6, TimeoutSeconds: 3,
		},
	}
}

func field(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

func (w *World) startManager(ctx context.Context) error {
	if w.options.Outside {
		return w.startOutside(ctx)
	}
	if err := w.installKubeconfigs(ctx); err != nil {
		return err
	}
	w.replicas.start()
	return w.ManagerReady(ctx)
}

// ManagerReady waits until the API has a pod of the manager that is ready, or until the
// manager beside the cluster says that it is.
func (w *World) ManagerReady(ctx context.Context) error {
	if w.outside != nil {
		return cluster.Until(ctx, "the manager to be ready", w.outside.ready)
	}
	return cluster.Until(ctx, "a pod of the manager to be ready", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, callTimeout)
		defer cancel()
		pods, err := w.pods(ctx)
		if err != nil {
			return err
		}
		for _, p := range pods {
			for _, c := range p.Status.Conditions {
				if c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue && p.DeletionTimestamp == nil {
					return nil
				}
			}
		}
		return fmt.Errorf("%w: there are %q; making one: %v", errNotYet, describe(pods), w.replicas.trouble())
	})
}

func describe(pods []corev1.Pod) (out string) {
	for _, p := range pods {
		out += fmt.Sprintf("%s on %s, %s, %+v; ", p.Name, p.Spec.NodeName, p.Status.Phase, p.Status.ContainerStatuses)
	}
	return out
}

func (w *World) pods(ctx context.Context) ([]corev1.Pod, error) {
	var list corev1.PodList
	if err := w.Client.List(ctx, &list, client.InNamespace(System), client.MatchingLabels{"app.kubernetes.io/component": "manager"}); err != nil {
		return nil, fmt.Errorf("list the manager's pods: %w", err)
	}
	return list.Items, nil
}

// JobPath is the folder of the jobs on this machine, of the replica that was seen last.
func (w *World) JobPath() string {
	r := w.replicas.last()
	in := []string{"pods", System + "_" + r.name + "_" + string(r.uid), "volumes", jobVolume}
	n := w.Talos.Node(r.machine)
	for _, v := range w.options.Volumes {
		if v == "KUBELET" {
			return n.DiskPath(v, in...)
		}
	}
	return n.DiskPath("EPHEMERAL", append([]string{"lib", "kubelet"}, filepath.Join(in...))...)
}
