package etcd

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

const (
	dataVolume   = "data"
	configVolume = "config"
	runVolume    = "run"
	// prepareContainer decides how a member may start; its reason is read from the pod.
	prepareContainer = "prepare"
	guardContainer   = "guard"
	etcdContainer    = "etcd"
	probePort        = 8081
	// optionsAnnotation rolls the pods when etcd's options change. Replicas and ledger
	// are no part of it: a change of size must restart nobody.
	optionsAnnotation = "quorate.dev/options"
	// DefaultVersion is the etcd release that runs where spec names none.
	DefaultVersion = "3.6.14"
	defaultSize    = "8Gi"
)

// statefulSet runs the members. Pods are restarted by the controller alone (OnDelete),
// one at a time and through the quorum; volumes are never deleted by Kubernetes.
func (c *cycle) statefulSet(replicas int) (*appsv1.StatefulSet, error) {
	template, err := c.podTemplate()
	if err != nil {
		return nil, err
	}
	return &appsv1.StatefulSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "StatefulSet"},
		ObjectMeta: c.meta(c.names.statefulSet()),
		Spec: appsv1.StatefulSetSpec{
			Replicas:             ptr.To(int32(replicas)), //nolint:gosec // at most 9
			ServiceName:          c.names.peerService(),
			Selector:             &metav1.LabelSelector{MatchLabels: c.names.labels()},
			PodManagementPolicy:  appsv1.ParallelPodManagement,
			UpdateStrategy:       appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType},
			RevisionHistoryLimit: ptr.To[int32](2),
			PersistentVolumeClaimRetentionPolicy: &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
				WhenDeleted: appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
				WhenScaled:  appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
			},
			Template:             template,
			VolumeClaimTemplates: []corev1.PersistentVolumeClaim{c.claimTemplate()},
		},
	}, nil
}

func (c *cycle) claimTemplate() corev1.PersistentVolumeClaim {
	s := c.etcd.Spec.Storage
	size := resource.MustParse(defaultSize)
	if s.Size != nil {
		size = *s.Size
	}
	return corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{Name: dataVolume, Labels: c.names.labels()},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: s.Class,
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
		},
	}
}

func (c *cycle) podTemplate() (corev1.PodTemplateSpec, error) {
	options, err := json.Marshal(c.options())
	if err != nil {
		return corev1.PodTemplateSpec{}, fmt.Errorf("print etcd's options: %w", err)
	}
	sum := sha256.Sum256(options)
	t := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{}, Annotations: map[string]string{optionsAnnotation: fmt.Sprintf("%x", sum[:8])}},
		Spec: corev1.PodSpec{
			ServiceAccountName:           c.names.serviceAccount(),
			AutomountServiceAccountToken: ptr.To(false),
			EnableServiceLinks:           ptr.To(false),
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: ptr.To(true), RunAsUser: ptr.To[int64](65532), RunAsGroup: ptr.To[int64](65532), FSGroup: ptr.To[int64](65532),
				FSGroupChangePolicy: ptr.To(corev1.FSGroupChangeOnRootMismatch),
				SeccompProfile:      &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			InitContainers: []corev1.Container{c.prepare(), c.guard()},
			Containers:     []corev1.Container{c.member()},
			Volumes:        c.volumes(),
		},
	}
	c.pod(&t)
	return t, nil
}

func container(name, image string, command ...string) corev1.Container {
	return corev1.Container{
		Name: name, Image: image, Command: command,
		Env:                      []corev1.EnvVar{{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: ptr.To(false), ReadOnlyRootFilesystem: ptr.To(true),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
}

const (
	configFile = "--config=" + configDir + "/" + configKey
	etcdConfig = runDir + "/etcd.yaml"
)

func (c *cycle) agentContainer(name, verb string, args ...string) corev1.Container {
	out := container(name, c.Images.Agent, append([]string{"/quorate-guard", verb, configFile, "--etcd-config=" + etcdConfig}, args...)...)
	out.VolumeMounts = c.mounts(true)
	out.Resources = corev1.ResourceRequirements{Requests: corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("32Mi"),
	}}
	return out
}

func (c *cycle) prepare() corev1.Container {
	return c.agentContainer(prepareContainer, "prepare", "--termination-message="+corev1.TerminationMessagePathDefault)
}

// guard is a native sidecar: it runs beside etcd and is the pod's readiness.
func (c *cycle) guard() corev1.Container {
	out := c.agentContainer(guardContainer, "serve", fmt.Sprintf("--bind-address=0.0.0.0:%d", probePort))
	out.RestartPolicy = ptr.To(corev1.ContainerRestartPolicyAlways)
	out.Ports = []corev1.ContainerPort{{Name: "probe", ContainerPort: probePort}}
	out.ReadinessProbe = &corev1.Probe{
		ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/readyz", Port: intOrString("probe")}},
		PeriodSeconds: 5, TimeoutSeconds: 3, FailureThreshold: 3,
	}
	return out
}

func (c *cycle) member() corev1.Container {
	out := container(etcdContainer, c.image(), "etcd", "--config-file="+etcdConfig)
	out.VolumeMounts = c.mounts(false)
	out.Ports = []corev1.ContainerPort{{Name: "client", ContainerPort: c.names.clientPort()}, {Name: "peer", ContainerPort: c.names.peerPort()}}
	out.Resources = c.resources()
	return out
}

// image wins over version; a version picks the manager's image of that release.
func (c *cycle) image() string {
	s := c.names.settings()
	if s.Image != "" {
		return s.Image
	}
	version := s.Version
	if version == "" {
		version = DefaultVersion
	}
	return strings.ReplaceAll(c.Images.Etcd, "{version}", version)
}
