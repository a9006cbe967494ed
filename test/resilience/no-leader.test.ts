import { machineDeploymentResource } from "@millwright/core/machine-api";
import { namespaceResource } from "@millwright/kube";
import { afterEach, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { machineDeployment } from "../harness/installation.ts";
import { startMillwright } from "../harness/millwright.ts";

let fleet: ControlledFleet;
afterEach(() => fleet.close());

const printed = async (
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly text: string }> => {
  const command = startMillwright([...args, `--control-kubeconfig=${fleet.kubeconfig}`]);
  await command.ended;
  return { code: command.child.exitCode, text: command.output().replaceAll(/[\s│]+/g, " ") };
};
const doctor = () => printed("doctor", "--clusters-only");

it("doctor finds that no process leads the namespace, before, while and after controllers do, and where they lead instead", async () => {
  fleet = await startControlledFleet();
  await fleet.deploy(1);
  // The mistake of a first installation: they manage another namespace.
  const elsewhere = fleet.run(`--control-kubeconfig=${fleet.kubeconfig}`, "--namespace=kube-system");
  await eventually(async () => expect((await doctor()).text).toContain("Controllers lead namespace kube-system."));
  expect((await doctor()).text).toContain("No controllers have led namespace default");
  await elsewhere.stop();

  const controllers = fleet.run();
  await fleet.untilRunning(1);
  expect(await doctor()).toMatchObject({
    code: 0,
    text: expect.stringMatching(/ok Controllers: \S+ holds Lease machine-controller-manager since/),
  });
  await controllers.stop();
  expect(await doctor()).toMatchObject({
    code: 1,
    text: expect.stringContaining("Lease machine-controller was given back, and no process has taken it."),
  });
});

it("why finds that no controller has seen an object, or manages it any more", async () => {
  fleet = await startControlledFleet();
  const elsewhere = fleet.run(`--control-kubeconfig=${fleet.kubeconfig}`, "--namespace=kube-system");
  await elsewhere.waitFor(/"Ready"/);
  await fleet.deploy(1);
  const why = () => printed("why", "mcd/fleet");
  await eventually(
    async () =>
      expect(await why()).toMatchObject({
        code: 3,
        text: expect.stringMatching(
          /\[stuck\] NoController: No controller has seen generation 1 of MachineDeployment fleet\. .*Controllers lead namespace kube-system\. .*kubectl get pods,leases -A/,
        ),
      }),
    90_000,
  );
  await elsewhere.stop();

  const controllers = fleet.run();
  await fleet.untilRunning(1);
  await fleet.scale(3);
  await fleet.untilRunning(3);
  await controllers.stop();
  await fleet.scale(2);
  const { text } = await why();
  expect(text).toContain(
    "No controller has seen generation 3 of MachineDeployment fleet. Lease machine-controller-manager was given back",
  );
  expect(text).not.toContain("What the controllers do");
});

it("why and doctor find that the namespace is being deleted, and what helps", async () => {
  fleet = await startControlledFleet();
  const namespace = "team";
  await fleet.api.create(namespaceResource, { metadata: { name: namespace } });
  const { metadata, ...deployment } = machineDeployment("fleet", "small", 1);
  const kept = { ...metadata, namespace, finalizers: ["example.com/kept"] };
  await fleet.api.create(machineDeploymentResource, { ...deployment, metadata: kept });
  await fleet.api.delete(namespaceResource, { name: namespace });
  for (const command of [
    ["why", "mcd/fleet"],
    ["doctor", "--clusters-only"],
  ]) {
    const { code, text } = await printed(...command, "-n", namespace);
    expect(code, text).not.toBe(0);
    expect(text).toContain(
      "Namespace team is being deleted, and with it the Leases of its controllers and their Role.",
    );
    expect(text).toContain("bind the permissions by a ClusterRoleBinding");
  }
});
