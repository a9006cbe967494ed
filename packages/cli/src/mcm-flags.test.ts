import { Command } from "commander";
import { describe, expect, it } from "vitest";
import type { RunFlags } from "./commands/run-settings.ts";
import { addIneffectiveFlags, givenWithoutEffect } from "./mcm-flags.ts";
import { addProfilingFlags } from "./profiling-flags.ts";
import { addRunFlags } from "./run-flags.ts";

/** Reads a command line of `millwright run`. */
const read = (...args: string[]): { readonly flags: RunFlags; readonly withoutEffect: readonly string[] } => {
  const command = addIneffectiveFlags(addProfilingFlags(addRunFlags(new Command("run")))).exitOverride();
  command.configureOutput({ writeErr: () => undefined });
  command.parse(["--provider=mock", ...args], { from: "user" });
  return { flags: command.opts(), withoutEffect: givenWithoutEffect(command).map(({ flag }) => flag) };
};

it("takes several namespaces, each once", () => {
  expect(read("--namespace=team-a, team-b").flags.namespace).toEqual(["team-a", "team-b"]);
  expect(() => read("--namespace=a,b,a")).toThrow("namespace a is there twice");
  expect(() => read("--namespace=a,,b")).toThrow('"" is not the name of a namespace');
  expect(() => read("--namespace=Team_A")).toThrow('"Team_A" is not the name of a namespace');
});

describe("MCM's command lines", () => {
  // As Gardener deploys it (`pkg/component/nodemanagement/machinecontrollermanager`).
  it("accepts that of machine-controller-manager", () => {
    const { flags, withoutEffect } = read(
      "--control-kubeconfig=inClusterConfig",
      "--delete-migrated-machine-class=true",
      "--machine-safety-apiserver-statuscheck-timeout=30s",
      "--machine-safety-apiserver-statuscheck-period=1m",
      "--machine-safety-orphan-vms-period=30m",
      "--machine-safety-overshooting-period=1m",
      "--namespace=shoot--a--b",
      "--port=10258",
      "--safety-up=2",
      "--safety-down=1",
      "--target-kubeconfig=/var/run/secrets/gardener.cloud/shoot/generic-kubeconfig/kubeconfig",
      "--concurrent-syncs=30",
      "--kube-api-qps=150",
      "--kube-api-burst=200",
      "--v=3",
    );
    expect(flags).toMatchObject({ namespace: ["shoot--a--b"], port: 10_258, concurrentSyncs: 30, v: 3 });
    expect(withoutEffect).toEqual([
      "--delete-migrated-machine-class",
      "--kube-api-burst",
      "--kube-api-qps",
      "--machine-safety-apiserver-statuscheck-period",
      "--machine-safety-overshooting-period",
    ]);
  });

  it("accepts that of a provider's machine-controller", () => {
    const { flags, withoutEffect } = read(
      "--control-kubeconfig=inClusterConfig",
      "--machine-creation-timeout=20m",
      "--machine-drain-timeout=2h",
      "--machine-health-timeout=10m",
      "--machine-pv-detach-timeout=2m",
      "--machine-pv-reattach-timeout=90s",
      "--machine-inplace-update-timeout=1h",
      "--machine-preserve-timeout=96h",
      "--namespace=shoot--a--b",
      "--port=10259",
      "--v=3",
    );
    expect(flags).toMatchObject({ machineDrainTimeout: 7_200_000, machinePvReattachTimeout: 90_000, port: 10_259 });
    expect(withoutEffect).toEqual([]);
  });

  it("accepts all other flags of both programs", () => {
    const { withoutEffect } = read(
      "--address=127.0.0.1",
      "--bootstrap-token-auth-extra-groups=system:bootstrappers:a",
      "--cloud-provider=aws",
      "--contention-profiling",
      "--controller-start-interval=0s",
      "--kube-api-content-type=application/vnd.kubernetes.protobuf",
      "--leader-elect-lease-duration=15s",
      "--leader-elect-resource-lock=leases",
      "--log-flush-frequency=5s",
      "--machine-max-evict-retries=360",
      "--min-resync-period=12h",
      "--node-conditions=KernelDeadlock,DiskPressure",
      "--profiling=false",
      "--resource-exhausted-retry=10m",
      "--autoscaler-scaledown-annotation-during-rollout=false",
      "--vmodule=a=1",
    );
    expect(withoutEffect).toEqual([
      "--cloud-provider",
      "--contention-profiling",
      "--controller-start-interval",
      "--kube-api-content-type",
      "--leader-elect-resource-lock",
      "--log-flush-frequency",
      "--min-resync-period",
      "--vmodule",
    ]);
  });
});

it.each([
  [[], true],
  [["--leader-elect"], true],
  [["--leader-elect=true"], true],
  [["--leader-elect=false"], false],
  [["--no-leader-elect"], false],
])("reads leader election from %j", (args, expected) => {
  expect(read(...args).flags.leaderElect).toBe(expected);
});

it.each([["--v=4"], ["-v=4"], ["-v4"], ["-v", "4"]])("reads a verbosity from %s", (...args) => {
  expect(read(...args).flags.v).toBe(4);
});

it("selects controllers in the style of kube-controller-manager", () => {
  expect(read("--controllers=*,-machine-controller").flags.controllers).toEqual(["machineset", "machinedeployment"]);
});

it("reads an address of IPv6 with and without brackets", () => {
  for (const text of ["2001:db8::1", "[2001:db8::1]"])
    expect(read(`--address=${text}`).flags.address).toBe("2001:db8::1");
});

it.each([
  ["--controllers=machines", 'there is no controller "machines"'],
  ["--leader-elect=maybe", 'expected "true" or "false"'],
  ["--leader-elect-resource-lock=endpoints", 'expected "leases"'],
  ["--address=localhost", "expected an IP address"],
  ["--address=[127.0.0.1]", "expected an IP address"],
  ["--port=70000", "expected a port"],
  ["--concurrent-syncs=0", "expected a number from 1"],
  ["--v=high", "expected a number from 0"],
])("rejects %s", (flag, message) => {
  expect(() => read(flag)).toThrow(message);
});

describe("profiles", () => {
  it("are off, and on a loopback address by default", () => {
    expect(read().flags).toMatchObject({ profiling: false, profilingAddress: { address: "127.0.0.1", port: 6060 } });
    expect(read("--profiling").flags.profiling).toBe(true);
    expect(read("--profiling=true").flags.profiling).toBe(true);
  });

  it.each([
    ["0.0.0.0:6061", { address: "0.0.0.0", port: 6061 }],
    ["[::1]:6061", { address: "::1", port: 6061 }],
  ])("are served at %s", (text, address) => {
    expect(read(`--profiling-address=${text}`).flags.profilingAddress).toEqual(address);
  });

  it.each(["6060", ":6060", "localhost:6060", "127.0.0.1", "127.0.0.1:99999", "::1:6060"])("reject %s", (text) => {
    expect(() => read(`--profiling-address=${text}`)).toThrow(/invalid/);
  });
});
