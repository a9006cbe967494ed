import { contractRules, defineConformance, type FixtureSetup } from "@millwright/conformance";
import { machineClassResource, machineDeploymentResource, phaseOf } from "@millwright/core/machine-api";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import mockFixture from "../../providers/mock/src/testing/mock-fixture.ts";
import { eventually } from "../harness/eventually.ts";
import { machineClass, machineDeployment, startInstallation } from "../harness/installation.ts";
import { startMillwright } from "../harness/millwright.ts";
import { patienceMs } from "./cloud-installation.ts";
import { checkAtAddress, goDriver, type OutsideCommand, startOutsideDriver } from "./outside-driver.ts";

const namespace = "default";

/** Errors of MCM cannot contain the time that a cloud asks to wait. */
const beyondMcm = new Set(["errors.retry-after"]);

/** Namespace of the machines of the conformance suite. */
const suiteNamespace = "conformance";

async function goFixture(command: OutsideCommand): Promise<FixtureSetup> {
  // A driver of MCM does not match nodes: the controllers match them by name, as MCM does.
  const { pendingClass: _, nodesOf: __, endpoint, ...mock }: FixtureSetup = await mockFixture();
  const outside = await startOutsideDriver(command);
  const { driver, close } = await outside.connect();
  return {
    ...mock,
    driver,
    createDriver: () => driver,
    ...(endpoint === undefined
      ? {}
      : { endpoint: { ...endpoint, through: (url: string) => ({ secret: endpoint.through(url).secret ?? {} }) } }),
    lacks: { ...mock.lacks, specHash: "drivers of MCM do not compare VMs with their classes" },
    async close() {
      await close();
      await outside.close();
      await mock.close?.();
    },
  };
}

const forSuite = await goDriver(suiteNamespace);
describe.skipIf(forSuite === undefined)("a driver of MCM in Go", () => {
  defineConformance({
    fixture: () => goFixture(forSuite ?? { path: "", args: () => [] }),
    only: contractRules.map(({ id }) => id).filter((id) => !beyondMcm.has(id)),
    level: "bronze",
    graceMs: 200_000,
    describe,
    it,
    afterAll,
  });

  it("is checked by millwright conformance at its address", async () => {
    if (forSuite === undefined) throw new Error("the driver was removed from the cache");
    const outside = await startOutsideDriver(forSuite);
    onTestFinished(() => outside.close());
    const { close, machineClass, secret } = await mockFixture();
    onTestFinished(async () => close?.());
    const { code, output } = await checkAtAddress(outside.address, machineClass?.providerSpec, secret ?? {});
    expect(code, output).toBe(0);
    expect(output).toMatch(/create\.repeat-returns-same-vm.*\n/);
  });

  it("runs machines under millwright run, also after it was killed, and deletes them", async () => {
    const command = await goDriver(namespace);
    if (command === undefined) throw new Error("the driver was removed from the cache");
    const outside = await startOutsideDriver(command);
    onTestFinished(() => outside.close());
    const { api, cloud, controllersKubeconfig, machines, close } = await startInstallation();
    onTestFinished(close);
    const args = [
      "run",
      `--provider=${outside.address}`,
      "--no-leader-elect",
      `--control-kubeconfig=${controllersKubeconfig}`,
    ];
    const millwright = startMillwright(args);
    onTestFinished(async () => void (await millwright.stop("SIGKILL")));
    const untilRunning = (count: number): Promise<void> =>
      eventually(async () => {
        expect((await machines()).map(phaseOf)).toEqual(Array.from({ length: count }, () => "Running"));
      }, patienceMs);

    await api.create(machineClassResource, machineClass("small"));
    await api.create(machineDeploymentResource, machineDeployment("fleet", "small", 3));
    await untilRunning(3);
    await outside.restart();
    const fleet = { namespace, name: "fleet" };
    await api.patch(machineDeploymentResource, fleet, { spec: { replicas: 5 } }, { kind: "merge" });
    await untilRunning(5);

    const names = (await machines()).map(({ metadata }) => metadata.name);
    const booted = cloud.vms().map(async ({ id, tags }) => {
      const userData = new TextDecoder().decode(await cloud.readUserData(id));
      return `${tags["millwright.dev/machine-name"]}: ${userData}, ${tags["millwright.dev/initialized"]}`;
    });
    expect((await Promise.all(booted)).toSorted()).toEqual(
      names.map((name) => `${name}: boot ${name}, true`).toSorted(),
    );
    await api.delete(machineDeploymentResource, fleet);
    await eventually(async () => expect(await machines()).toEqual([]), patienceMs);
    expect(cloud.vms().filter(({ state }) => state !== "terminated")).toEqual([]);
  });
});
