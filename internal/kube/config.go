package kube

import "k8s.io/client-go/rest"

// unthrottled is the configuration without client-side limits: a verdict must
// not queue behind others, and the API server's own fairness protects it.
func unthrottled(config *rest.Config) *rest.Config {
	c := rest.CopyConfig(config)
	c.QPS, c.Burst, c.RateLimiter = -1, 0, nil
	return c
}
