// The parts of a Kubernetes control plane that the lane runs, in one program: they share nearly all of their code, so
// they are compiled and linked once. The first argument says which one this process is.
//
// SPDX-License-Identifier: Apache-2.0
package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	parts := map[string]func() *cobra.Command{
		"kube-apiserver":          apiserver.NewAPIServerCommand,
		"kube-controller-manager": controllers.NewControllerManagerCommand,
		"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
	}
	var part func() *cobra.Command
	if len(os.Args) > 1 {
		part = parts[os.Args[1]]
	}
	if part == nil {
		fmt.Fprintln(os.Stderr, "usage: cluster kube-apiserver|kube-controller-manager|kube-scheduler FLAG…")
		os.Exit(2)
	}
	os.Args = os.Args[1:]
	os.Exit(cli.Run(part()))
}
