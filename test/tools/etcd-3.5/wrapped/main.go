// Command wrapped is etcd itself. The builder adds package wrap of test/node to it,
// which moves it into a pod of the tests.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
