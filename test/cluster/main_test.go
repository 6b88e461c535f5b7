package cluster

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"
)

// shared is the control plane that most tests here use.
var shared *Cluster

// orphanVariable turns the test binary into a process that starts a control
// plane and never stops it.
const orphanVariable = "QUORATE_TEST_ORPHAN"

const auditEverything = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	ctx, cancel := context.WithTimeout(context.Background(), buildTimeout)
	defer cancel()
	if os.Getenv(orphanVariable) != "" {
		return orphan(ctx)
	}
	began := time.Now()
	var err error
	shared, err = Start(ctx, Options{ControllerManager: true, AuditPolicy: auditEverything})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Printf("control plane with controller manager ready in %s\n", time.Since(began).Round(10*time.Millisecond))
	defer func() {
		if code != 0 {
			fmt.Fprintln(os.Stderr, "logs:", shared.Logs())
		}
		if err := shared.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	return m.Run()
}

// orphan tells where its control plane is and waits to be killed.
func orphan(ctx context.Context) int {
	c, err := Start(ctx, Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(c.Dir)
	<-ctx.Done()
	return 0
}
