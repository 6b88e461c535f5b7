package etcd

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

func intOrString(name string) intstr.IntOrString { return intstr.FromString(name) }

// secretVolumes are the Secrets that spec names, by volume and folder.
func (c *cycle) secretVolumes() (volumes []corev1.Volume, mounts []corev1.VolumeMount) {
	add := func(name, secret, dir string) {
		volumes = append(volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: secret, DefaultMode: ptr.To[int32](0o440)},
		}})
		mounts = append(mounts, corev1.VolumeMount{Name: name, MountPath: dir, ReadOnly: true})
	}
	if t := c.names.settings().ClientTLS; t != nil {
		add("client-tls", t.ServerSecretRef.Name, clientTLS)
		add("agent-tls", t.ClientSecretRef.Name, agentTLS)
	}
	if t := c.names.settings().PeerTLS; t != nil {
		add("peer-tls", t.SecretRef.Name, peerTLS)
	}
	return volumes, mounts
}

func (c *cycle) volumes() []corev1.Volume {
	out := []corev1.Volume{
		{Name: configVolume, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: c.names.configMap()},
		}}},
		{Name: runVolume, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	secrets, _ := c.secretVolumes()
	return append(out, secrets...)
}

func (c *cycle) mounts(agent bool) []corev1.VolumeMount {
	out := []corev1.VolumeMount{
		{Name: dataVolume, MountPath: dataMount},
		{Name: runVolume, MountPath: runDir},
	}
	if agent {
		out = append(out, corev1.VolumeMount{Name: configVolume, MountPath: configDir, ReadOnly: true})
	}
	_, secrets := c.secretVolumes()
	return append(out, secrets...)
}
