package cluster

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Access is one identity's way into the cluster.
type Access struct {
	// User is the name that the API server sees.
	User string
	// Kubeconfig is the path of a file with all that a client needs.
	Kubeconfig string
	// Config is the same for Go clients. Client-side rate limits are off, since
	// tests measure the server.
	Config *rest.Config
}

// AddUser makes an identity with these groups, proved by a client certificate.
// It has no rights but those that RBAC gives to its name and groups. A second
// call for the same name replaces its kubeconfig file.
func (c *Cluster) AddUser(name string, groups ...string) (*Access, error) {
	c.users.Lock()
	defer c.users.Unlock()
	user, err := c.plane.AddUser(envtest.User{Name: name, Groups: groups}, nil)
	if err != nil {
		return nil, fmt.Errorf("add user %s: %w", name, err)
	}
	return c.access(name, user.Config())
}

// tokenSeconds is how long a ServiceAccount's token is good for: a day, so that
// a cluster that is kept running for people stays usable.
const tokenSeconds = 24 * 60 * 60

// ServiceAccount gives the identity of a ServiceAccount that exists, by a token
// that the API server issued for it.
func (c *Cluster) ServiceAccount(ctx context.Context, namespace, name string) (*Access, error) {
	seconds := int64(tokenSeconds)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	issued, err := c.client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name, request, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("request a token of ServiceAccount %s/%s: %w", namespace, name, err)
	}
	config := rest.AnonymousClientConfig(c.admin.Config)
	config.BearerToken = issued.Status.Token
	return c.access("system:serviceaccount:"+namespace+":"+name, config)
}

func (c *Cluster) access(user string, config *rest.Config) (*Access, error) {
	config.QPS = -1
	path := filepath.Join(c.Dir, "kubeconfig", strings.NewReplacer(":", "-", "/", "-").Replace(user)+".yaml")
	if err := clientcmd.WriteToFile(kubeconfig(user, config), path); err != nil {
		return nil, fmt.Errorf("write the kubeconfig of %s: %w", user, err)
	}
	return &Access{User: user, Kubeconfig: path, Config: config}, nil
}

// kubeconfig holds the same as the client configuration, certificates included.
func kubeconfig(user string, config *rest.Config) api.Config {
	const name = "quorate-test"
	return api.Config{
		Clusters: map[string]*api.Cluster{name: {
			Server: config.Host, CertificateAuthorityData: config.CAData,
		}},
		AuthInfos: map[string]*api.AuthInfo{user: {
			ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken,
		}},
		Contexts:       map[string]*api.Context{name: {Cluster: name, AuthInfo: user}},
		CurrentContext: name,
	}
}
