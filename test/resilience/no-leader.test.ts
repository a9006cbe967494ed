import { afterEach, expect, it } from "vitest";
import { type ControlledFleet, startControlledFleet } from "../harness/controlled-fleet.ts";
import { eventually } from "../harness/eventually.ts";
import { startMillwright } from "../harness/millwright.ts";

let fleet: ControlledFleet;
afterEach(() => fleet.close());

const doctor = async (): Promise<{ readonly code: number | null; readonly text: string }> => {
  const command = startMillwright(["doctor", "--clusters-only", `--control-kubeconfig=${fleet.kubeconfig}`]);
  await command.ended;
  return { code: command.child.exitCode, text: command.output().replaceAll(/\s+/g, " ") };
};

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
