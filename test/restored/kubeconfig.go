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
	c, config := access.Config, clientcmdapi.NewConfig()
	config.Clusters["factory"] = &clientcmdapi.Cluster{Server: c.Host, CertificateAuthorityData: c.CAData, TLSServerName: "kubernetes"}
	config.AuthInfos["admin"] = &clientcmdapi.AuthInfo{ClientCertificateData: c.CertData, ClientKeyData: c.KeyData, Token: c.BearerToken}
	config.Contexts["factory"] = &clientcmdapi.Context{Cluster: "factory", AuthInfo: "admin"}
	config.CurrentContext = "factory"
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return "", fmt.Errorf("write a kubeconfig: %w", err)
	}
	return path, os.Chmod(path, 0o600)
}
