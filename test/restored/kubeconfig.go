package restored

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Binary is the program of the manager, which is the command for people too.
func (w *World) Binary() string { return w.binary }

// WriteKubeconfig writes an administrator's kubeconfig, for programs, and answers its path.
// It names the API server of the first control plane alone, by a name that the certificate
// of each has.
func (w *World) WriteKubeconfig(path string) (string, error) {
	access, err := w.Talos.ControlPlanes()[0].Admin()
	if err != nil {
		return "", err
	}
	c := access.Config
	return writeKubeconfig(path, &clientcmdapi.Cluster{Server: c.Host, CertificateAuthorityData: c.CAData, TLSServerName: "kubernetes"},
		&clientcmdapi.AuthInfo{ClientCertificateData: c.CertData, ClientKeyData: c.KeyData, Token: c.BearerToken})
}

func writeKubeconfig(path string, cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) (string, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters["factory"], config.AuthInfos["user"] = cluster, user
	config.Contexts["factory"] = &clientcmdapi.Context{Cluster: "factory", AuthInfo: "user"}
	config.CurrentContext = "factory"
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return "", fmt.Errorf("write a kubeconfig: %w", err)
	}
	return path, os.Chmod(path, 0o600)
}
