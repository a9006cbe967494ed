import { continueWith } from "@millwright/core/machine-api";
import { describe, expect, it } from "vitest";
import { aDeployment, aMachine, now, objectsOf, since, small } from "../testing/explained-objects.ts";
import { why } from "./explain.ts";

const ours = "machine.sapcloud.io/machine-controller-manager";
const error = (code: string): string => `machine codes error: code = [${code}] message = [no luck]`;
const noSecret = 'MachineClass "small": Secret "cloud" does not exist in namespace default';

const deleting = (stage: "Drain" | "DeleteVm", text: string, state = "Failed", finalizers = [ours]) =>
  aMachine(
    "a",
    "Terminating",
    { lastOperation: { type: "Delete", state, description: continueWith(stage, text) } },
    { deletionTimestamp: since, finalizers },
  );

describe("why of a machine that is being deleted", () => {
  it.each([
    [
      "its Secret is missing",
      `Cannot delete VM v: ${noSecret}`,
      "Create Secret cloud again",
      "kubectl get secret cloud",
    ],
    [
      "its class is invalid",
      'Cannot delete VM v: MachineClass "small": x',
      "Correct MachineClass small.",
      "millwright doctor small",
    ],
    [
      "its credentials are refused",
      `VM deletion failed due to - ${error("Unauthenticated")}. Aborting operation`,
      "Write valid credentials into Secret cloud",
      "kubectl edit secret cloud",
    ],
    [
      "a permission is missing",
      `VM deletion failed due to - ${error("PermissionDenied")}. Aborting operation`,
      "Grant the missing permission",
      "millwright doctor small",
    ],
    ["a write is refused", "Failed to patch Machine a: 403 Forbidden: no", "webhook", "kubectl get"],
    [
      "the cloud fails",
      `VM deletion failed due to - ${error("Internal")}. However, will re-try in the next resync`,
      "Correct what the message names",
      "millwright describe machine a",
    ],
  ])("names what helps when %s, and no disruption budget", async (_, text, remedy, command) => {
    const { explanation, remedies } = await why(
      { kind: "Machine", name: "a" },
      objectsOf({ machines: [deleting("DeleteVm", text)], nodes: [] }),
      now,
    );
    expect(explanation.state).toBe("stuck");
    expect(remedies[0]?.text).toContain(remedy);
    expect(remedies[0]?.commands.join("\n")).toContain(command);
    expect(JSON.stringify(remedies)).not.toContain("PodDisruptionBudget");
    expect(explanation.causes[0]?.message).not.toContain("Initiate VM deletion");
  });

  it("shows the missing Secret, and the missing class, as objects", async () => {
    const of = async (text: string, classes = [small]) => {
      const objects = objectsOf({ machines: [deleting("DeleteVm", text)], classes, nodes: [] });
      const { explanation, remedies } = await why({ kind: "Machine", name: "a" }, objects, now);
      const children = explanation.children.map(({ kind, name, summary }) => `${kind} ${name} ${summary}`);
      return [...children, remedies[0]?.text];
    };
    expect(await of(`Cannot delete VM v: ${noSecret}`)).toEqual([
      "Secret cloud does not exist",
      "Create Secret cloud again, with credentials for the account of the VM. The deletion then continues.",
    ]);
    expect(await of('Cannot delete VM v: spec.class.name: MachineClass "small" does not exist', [])).toEqual([
      "MachineClass small does not exist",
      "Create MachineClass small again, as it was when the VM was created. The deletion then continues.",
    ]);
  });

  it("is about disruption budgets only at its drain", async () => {
    const of = async (stage: "Drain" | "DeleteVm") => {
      const machines = [deleting(stage, "", "Processing")];
      const { remedies } = await why({ kind: "Machine", name: "a" }, objectsOf({ machines, nodes: [] }), now);
      return remedies[0]?.text;
    };
    expect(await of("Drain")).toContain("PodDisruptionBudgets");
    expect(await of("DeleteVm")).toContain("Nothing is needed while the deletion proceeds");
  });

  it("names the finalizer of another owner that alone keeps it", async () => {
    const machines = [deleting("DeleteVm", "Only finalizers of others keep the object: x/y", "Processing", ["x/y"])];
    const { explanation, remedies } = await why(
      { kind: "Machine", name: "a" },
      objectsOf({ machines, nodes: [] }),
      now,
    );
    expect(explanation.state).toBe("stuck");
    expect(remedies[0]?.text).toContain("finalizer x/y");
  });
});

describe("why of a class that is being deleted", () => {
  const terminating = (finalizers: readonly string[]) => ({
    ...small,
    metadata: { ...small.metadata, deletionTimestamp: since, finalizers },
  });
  const gone = { deletionTimestamp: since, finalizers: [ours] };
  const running = aMachine("a", "Running");
  const leaving = aMachine("b", "Terminating", {}, gone);
  it.each([
    [
      [running, leaving],
      [aDeployment()],
      [ours],
      "stuck",
      "kept while used by 2 Machines a, b. The template of MachineDeployment pool names it",
    ],
    [[running], [], [ours], "stuck", "kept while used by Machine a"],
    [[leaving], [], [ours], "waiting", "kept while used by Machine b"],
    [[], [aDeployment()], ["x/y", ours], "stuck", "kept by finalizer x/y"],
    [[], [], [ours], "waiting", "The class is being deleted"],
  ])("names who keeps it (%#)", async (machines, deployments, finalizers, state, message) => {
    const objects = objectsOf({ machines, deployments, classes: [terminating(finalizers)] });
    const { explanation } = await why({ kind: "MachineClass", name: "small" }, objects, now);
    expect(explanation.state).toBe(state);
    expect(explanation.causes[0]?.message).toContain(message);
    expect(explanation.causes[0]?.since).toBe(since);
  });

  it("is as desired while nothing deletes it", async () => {
    const { explanation } = await why({ kind: "MachineClass", name: "small" }, objectsOf(), now);
    expect(explanation).toMatchObject({ state: "ok", causes: [] });
  });
});
