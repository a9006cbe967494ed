// Package main runs the integration specs of Gardener's machine-controller-manager, as its providers do, with a tracker
// of the VMs of the mock cloud, and prints each spec and its result as a line of JSON.
//
// The framework starts the controllers by `make` and ends them by `ps`: test/compat/mcm-specs.test.ts puts its own
// commands of these names before those of the computer.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	"github.com/gardener/machine-controller-manager/pkg/apis/machine/v1alpha1"
	"github.com/gardener/machine-controller-manager/pkg/test/integration/common"
	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
)

// timeoutSeconds bounds each wait of a spec.
const timeoutSeconds = 180

// tracker finds the VMs that the specs leave in the mock cloud.
type tracker struct{ endpoint string }

// InitializeResourcesTracker takes the cloud's address from the Secret of the class, as the driver does.
func (t *tracker) InitializeResourcesTracker(_ *v1alpha1.MachineClass, secret map[string][]byte, _ string) error {
	t.endpoint = string(secret["endpoint"])
	if t.endpoint == "" {
		return fmt.Errorf("the Secret of the class names no endpoint")
	}
	return nil
}

// IsOrphanedResourcesAvailable tells whether a VM is left, or the cloud does not answer.
func (t *tracker) IsOrphanedResourcesAvailable() bool {
	response, err := http.Get(t.endpoint + "/v1/vms")
	if err != nil {
		return true
	}
	defer response.Body.Close()
	var list struct {
		VMs []json.RawMessage `json:"vms"`
	}
	if response.StatusCode != http.StatusOK || json.NewDecoder(response.Body).Decode(&list) != nil || list.VMs == nil {
		return true
	}
	return len(list.VMs) > 0
}

// outcome stands for *testing.T.
type outcome struct{ failed bool }

// Fail is called when a spec failed.
func (o *outcome) Fail() { o.failed = true }

func main() {
	framework := common.NewIntegrationTestFramework(&tracker{}, timeoutSeconds, 1)
	ginkgo.Describe("Millwright", ginkgo.Ordered, ginkgo.ContinueOnFailure, func() {
		ginkgo.BeforeAll(framework.SetupBeforeSuite)
		framework.BeforeEachCheck()
		framework.ControllerTests()
	})
	ginkgo.ReportAfterSuite("results", func(report ginkgo.Report) {
		for _, spec := range report.SpecReports {
			if spec.LeafNodeType.String() != "It" {
				continue
			}
			line, _ := json.Marshal(map[string]any{
				"spec": spec.FullText(), "state": spec.State.String(), "failure": spec.Failure.Message,
				"seconds": spec.RunTime.Seconds(),
			})
			fmt.Println("RESULT " + string(line))
		}
	})
	gomega.RegisterFailHandler(ginkgo.Fail)
	suite, reporter := ginkgo.GinkgoConfiguration()
	reporter.NoColor = true
	// One spec by its text; the reason is in docs/project/compatibility.
	if skip := os.Getenv("SKIP_SPEC"); skip != "" {
		suite.SkipStrings = []string{skip}
	}
	result := &outcome{}
	ginkgo.RunSpecs(result, "MCM's integration specs", suite, reporter)
	if result.failed {
		os.Exit(1)
	}
}
