import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ApiServer, createApiServer } from "@millwright/devcluster";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../packages/cli/src/program.ts";
import { eventually } from "../harness/eventually.ts";
import { startMillwright } from "../harness/millwright.ts";

const resilience = (name: string): string => `test/resilience/${name}.test.ts`;
const controllers = (name: string): string => `packages/controllers/src/${name}.test.ts`;
const autoscaler = "test/system/cluster-autoscaler.test.ts";
const commandLine = "test/system/command-line.test.ts";
const passed = "packages/cli/src/commands/run-settings.test.ts";
const here = "test/system/flags-of-run.test.ts";

/**
 * The test that shows the effect of each flag: a file, and a part of the title. Flags that set something of the manager are passed to it by `run-settings.test.ts`; the test here
 * shows what the setting does.
 */
const shownBy: Readonly<Record<string, readonly [file: string, title: string]>> = {
  provider: [commandLine, "rejects a driver package that does not exist"],
  "control-kubeconfig": [commandLine, "rejects an invalid kubeconfig"],
  kubeconfig: [here, "takes --kubeconfig and --context"],
  context: [here, "manages the cluster and the namespace of --context"],
  "target-kubeconfig": ["test/system/mcm-command-lines.test.ts", "runs with the flags of MCM's programs"],
  "target-kubeconfig-allow": ["packages/cli/src/target/target-kubeconfig.test.ts", "allows what the flag lists"],
  namespace: [resilience("namespaces"), "each lead their own"],
  controllers: [resilience("split-controllers"), "each with its own lease"],
  "log-level": [resilience("reload"), "reloads timeouts while it runs"],
  v: ["packages/cli/src/mcm-flags.test.ts", "reads a verbosity"],
  port: ["test/system/mcm-command-lines.test.ts", "answers their probe and their scrape"],
  address: ["packages/runtime/src/endpoints.test.ts", "when the port or the address cannot be used"],
  "metrics-authorization": ["test/system/hostile-clients.test.ts", "only with the token of a user who may get them"],
  "concurrent-syncs": ["packages/kube/src/controller/controller.test.ts", "as it has workers"],
  "record-cloud": ["test/clouds/record-and-replay.test.ts", "records the exchange of its driver and the cloud"],
  "leader-elect": ["test/resilience/takeover.test.ts", "and never in both"],
  "leader-elect-lease-duration": [
    "test/resilience/takeover.test.ts",
    "leads when the leases of a killed leader have passed, and not before",
  ],
  "leader-elect-renew-deadline": ["packages/kube/src/leader-election/elector.test.ts", "shorter than the deadline"],
  "leader-elect-retry-period": [
    "packages/kube/src/leader-election/elector.test.ts",
    "renews each retry period while the server is slow",
  ],
  "machine-creation-timeout": [resilience("reload"), "reloads timeouts while it runs"],
  "machine-health-timeout": [controllers("machine/health/decide-timeouts"), "within the health timeout"],
  "node-conditions": [controllers("model/node-health"), "gives %j"],
  "machine-max-in-flight-remediations": [controllers("remediation/remediation-order"), "and uses the setting"],
  "machine-safety-apiserver-statuscheck-timeout": [
    resilience("health-of-nodes"),
    "does not count time without connectivity",
  ],
  "machine-safety-orphan-vms-period": [controllers("vm-lists/vm-lists"), "and in every period"],
  "machine-safety-orphan-vms": [controllers("orphans/collector"), "is kept in mode report"],
  "machine-outage-threshold": [controllers("remediation/outage-watch"), "when threshold and minimum of the machines"],
  "machine-outage-min-machines": [
    controllers("remediation/outage-watch"),
    "when threshold and minimum of the machines",
  ],
  "machine-outage-window": [controllers("remediation/outage"), "Unknown for the window"],
  "concurrent-machine-creations-per-class": [
    controllers("machine/creation/launch-throttle"),
    "limits the concurrent calls of a class",
  ],
  "concurrent-machine-creations": [resilience("bulkheads"), "in more classes than may create machines at once"],
  "resource-exhausted-retry": [controllers("model/retry"), "end at the configured period"],
  "bootstrap-token-auth-extra-groups": [controllers("machine/creation/bootstrap-tokens"), "auth-extra-groups"],
  "machine-drain-timeout": [resilience("drain-pods"), "until the drain timeout"],
  "machine-max-evict-retries": [controllers("drain/drain-window"), "does not move while the drain is followed"],
  "machine-pv-detach-timeout": [resilience("drain-volumes"), "until the detach timeout"],
  "machine-pv-reattach-timeout": [resilience("drain-volumes"), "until the reattach timeout"],
  "machine-safety-max-deletion-share": [resilience("deletion-budget"), "holds nothing with a share of 0"],
  "machine-inplace-update-timeout": [resilience("in-place-update"), "until the timeout"],
  "machine-preserve-timeout": [resilience("preservation"), "when its timeout expires"],
  "safety-up": [controllers("safety/freeze"), "freezes deployment and set, and unfreezes both"],
  "safety-down": [controllers("safety/freeze"), "freezes deployment and set, and unfreezes both"],
  "autoscaler-scaledown-annotation-during-rollout": [
    controllers("machine-deployment/nodes/decide-nodes"),
    "keeps the autoscaler from old and new nodes",
  ],
  "cluster-api-conditions": [
    controllers("conditions/machine/stored-conditions"),
    "removes them when Cluster API's conditions are disabled",
  ],
  "watchdog-stall-timeout": [resilience("watchdog"), "is killed when a driver blocks the event loop for ever"],
  "watchdog-stuck-timeout": [resilience("watchdog"), "when a call of a driver never ends"],
  "watchdog-memory-limit": [resilience("watchdog"), "when a driver leaks memory"],
  "provider-tls-ca": ["test/system/driver-over-tls.test.ts", "to clients whose certificate its authority has signed"],
  "provider-tls-cert": ["test/system/driver-over-tls.test.ts", "to clients whose certificate its authority has signed"],
  "provider-tls-key": ["test/system/driver-over-tls.test.ts", "to clients whose certificate its authority has signed"],
  "provider-in-process": [commandLine, "loads a driver only with the digest"],
  "provider-isolated": ["packages/cli/src/drivers/open-drivers.test.ts", "is the declared one"],
  "provider-env": [resilience("isolated-drivers"), "gets only the environment that is declared"],
  "provider-digest": [commandLine, "loads a driver only with the digest"],
  "provider-memory-limit": [resilience("isolated-drivers"), "--provider-memory-limit"],
  "provider-unresponsive-timeout": [resilience("isolated-drivers"), "--provider-unresponsive-timeout"],
  profiling: ["packages/cli/src/commands/open-profiles.test.ts", "profiles are not served unless the flag is set"],
  "profiling-address": ["packages/cli/src/commands/open-profiles.test.ts", "a port in use is logged"],
  "profiling-token-file": ["packages/cli/src/commands/open-profiles.test.ts", "refused without a token file"],
  dashboard: ["packages/cli/src/dashboard/open-dashboard.test.ts", "is not served unless the flag is set"],
  "dashboard-address": ["packages/cli/src/dashboard/open-dashboard.test.ts", "a port in use is logged"],
  "autoscaler-address": [autoscaler, "scales up from zero by the template of the class"],
  "autoscaler-tls-cert": [autoscaler, "whose certificate its authority has signed"],
  "autoscaler-tls-key": [autoscaler, "whose certificate its authority has signed"],
  "autoscaler-tls-client-ca": [autoscaler, "whose certificate its authority has signed"],
  "autoscaler-client-names": [autoscaler, "and whose certificate has one of the names"],
  "tracing-endpoint": ["packages/cli/src/commands/open-tracing.test.ts", "the flag goes before the environment"],
  shadow: ["test/compat/shadow.test.ts", "sends no request but reads"],
  "shadow-grace": ["packages/runtime/src/shadow/comparison.test.ts", "stays due for the grace period"],
  "shadow-report-interval": ["packages/runtime/src/shadow/shadow.test.ts", "reports in each interval"],
  config: [resilience("reload"), "reloads timeouts while it runs"],
  "print-config": [here, "prints the flags in effect"],
};

const options = createProgram(() => undefined).commands.find((command) => command.name() === "run")?.options ?? [];
/** Names of flags; hidden ones are those of MCM without effect. `-A` is rejected, see packages/cli/src/every-command.test.ts. */
const namesOf = (isHidden: boolean): readonly string[] =>
  options
    .filter(({ negate, hidden, short }) => !negate && hidden === isHidden && short !== "-A")
    .map((option) => option.name())
    .toSorted();
const textOf = (file: string): string => readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), "utf8");

describe("each flag of millwright run", () => {
  it("has a test that shows its effect: a new one needs an entry here", () => {
    expect(namesOf(false)).toEqual(Object.keys(shownBy).toSorted());
  });

  it.each(Object.entries(shownBy))("--%s is shown by %j", (_, [file, title]) => {
    expect(textOf(file)).toContain(title);
  });

  it("of MCM that has no effect is named with its reason", () => {
    const ineffective = namesOf(true);
    const test = textOf("packages/cli/src/mcm-flags.test.ts");
    for (const name of ineffective) expect(test).toContain(`"--${name}`);
    expect(ineffective.length).toBeGreaterThan(10);
  });

  it("that sets something of the manager is passed to it", () => {
    expect(textOf(passed)).toContain("passes --%s to the manager");
  });
});

it("millwright run takes --kubeconfig and --context", async () => {
  const command = startMillwright(["run", "--provider=mock", "--kubeconfig=/none/kubeconfig", "--context=other"]);
  expect(await command.ended).toBe(1);
  expect(command.output()).toContain("/none/kubeconfig");
});

it("millwright run manages the cluster and the namespace of --context, not of the current one", async () => {
  const folder = await mkdtemp(join(tmpdir(), "millwright-context-"));
  const [current, other] = [createApiServer(), createApiServer()];
  const file = join(folder, "kubeconfig");
  const context = (name: string, namespace: string) => ({ name, context: { cluster: name, user: "none", namespace } });
  const cluster = async (name: string, server: ApiServer) => ({
    name,
    cluster: { server: (await server.listen()).url },
  });
  await writeFile(
    file,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "current",
      clusters: [await cluster("current", current), await cluster("other", other)],
      contexts: [context("current", "default"), context("other", "team-z")],
      users: [{ name: "none", user: {} }],
    }),
  );
  const command = startMillwright(["run", "--provider=mock", `--kubeconfig=${file}`, "--context=other"]);
  try {
    await eventually(async () => {
      const namespaces = await Promise.resolve(other.requests.map(({ namespace }) => namespace));
      expect(namespaces).toContain("team-z");
      expect(namespaces).not.toContain("default");
    });
    expect(current.requests).toEqual([]);
  } finally {
    await command.stop("SIGKILL");
    await Promise.all([current.close(), other.close()]);
    await rm(folder, { recursive: true });
  }
});

it("millwright run prints the flags in effect", async () => {
  const command = startMillwright(["run", "--print-config", "--safety-up=5"], { MILLWRIGHT_SAFETY_DOWN: "3" });
  expect(await command.ended, command.output()).toBe(0);
  expect(command.output()).toContain('safety-up: "5" # command line\n');
  expect(command.output()).toContain('safety-down: "3" # environment\n');
});
