import { matchNodeByProviderId, type NodeIdentity, type VmIdentity } from "@millwright/core";
import { type CheckContext, type CheckTable, describeError, expect, expectFailure, outcomeOf } from "./check.ts";
import { notApplicable } from "../session/outcome.ts";

const labelValue = /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/;

const nodeOf = (change: Partial<NodeIdentity>): NodeIdentity => ({
  name: "",
  providerId: "",
  systemUuid: "",
  addresses: [],
  ...change,
});

const hostile: readonly NodeIdentity[] = [
  nodeOf({}),
  nodeOf({ providerId: "///", name: "x" }),
  nodeOf({ providerId: `a://${"b/".repeat(5_000)}` }),
  nodeOf({ providerId: "%E0%A4%A", systemUuid: "not-a-uuid" }),
  nodeOf({ addresses: [{ type: "InternalIP", address: "" }] }),
];

/** A new VM, as the controllers know it. */
async function createVm(t: CheckContext): Promise<VmIdentity> {
  const machine = t.machine();
  const { providerId, nodeName, addresses = [] } = await t.caller.create(machine);
  return { machineName: machine.name, providerId, nodeName, addresses };
}

/** Checks of the names and identities of nodes. */
export const nodeChecks = {
  "node.name-is-valid": async (t) => {
    const { namePrefix } = t.session;
    for (const name of [undefined, `${namePrefix}-${"l".repeat(100)}`]) {
      const machine = t.machine(name === undefined ? {} : { name });
      const outcome = await outcomeOf(t.caller.create(machine));
      if (!outcome.ok) {
        expect(name !== undefined, `A creation fails: ${outcome.ok ? "" : describeError(outcome.error)}`);
        await expectFailure("A long machine name", Promise.reject(outcome.error), "InvalidArgument");
        continue;
      }
      const { nodeName } = outcome.value;
      expect(
        labelValue.test(nodeName),
        `The node name ${JSON.stringify(nodeName)} is not a valid label value of a DNS name.`,
      );
    }
  },

  "node.identity-is-stable": async (t) => {
    const machine = t.machine();
    const first = await t.caller.create(machine);
    const known = { ...machine, providerId: first.providerId };
    const replies = [
      ["a repeated createMachine", await t.caller.create(machine)],
      ["getMachineStatus", await t.caller.status(machine)],
      ["getMachineStatus with provider id", await t.caller.status(known)],
      ...(t.caller.target.driver.initializeMachine === undefined
        ? []
        : ([["initializeMachine", await t.caller.initialize(known)]] as const)),
      ["a later getMachineStatus", await t.caller.status(known)],
    ] as const;
    for (const [what, { providerId, nodeName }] of replies) {
      const isSame = providerId === first.providerId && nodeName === first.nodeName;
      expect(
        isSame,
        `createMachine returns ${first.providerId}, ${first.nodeName}; ${what} ${providerId}, ${nodeName}`,
      );
    }
  },

  "node.match": async (t) => {
    const { driver } = t.caller.target;
    if (driver.matchNode === undefined) throw notApplicable("The driver has no matchNode.");
    const [own, other] = [await createVm(t), await createVm(t)];
    const match = (node: NodeIdentity, vm = own): unknown => {
      try {
        return t.session.scope.run(() => driver.matchNode?.(vm, node));
      } catch (error) {
        expect(false, `matchNode throws: ${describeError(error)}`);
        throw error;
      }
    };
    for (const node of hostile) {
      for (const vm of [own, { ...own, providerId: "", nodeName: "" }]) {
        const answer = match(node, vm);
        expect(["same", "different", "unknown"].includes(String(answer)), `matchNode returns ${String(answer)}.`);
        expect(answer === match(node, vm), "matchNode returns another answer for the same input.");
      }
    }
    const ownNode = nodeOf({ name: own.nodeName, providerId: own.providerId });
    expect(match(ownNode) !== "different", "matchNode returns different for the Node with the provider id of the VM.");
    const otherNode = nodeOf({ name: other.nodeName, providerId: other.providerId });
    expect(match(otherNode) !== "same", "matchNode returns same for a Node with the provider id of another VM.");
  },

  "node.match-cloud-form": async (t) => {
    const nodesOf = t.needs(t.fixture.nodesOf, "nodes as a cloud controller manager writes them");
    const { driver } = t.caller.target;
    const match = driver.matchNode?.bind(driver) ?? matchNodeByProviderId;
    const [own, other] = [await createVm(t), await createVm(t)];
    for (const [form, node] of Object.entries(await nodesOf(own.machineName))) {
      const [mine, theirs] = t.session.scope.run(() => [match(own, node), match(other, node)]);
      const what = `the Node with the ${form} ${node.providerId}`;
      expect(mine === "same", `${what} is "${mine}" for its VM ${own.providerId}.`);
      expect(theirs !== "same", `${what} is "same" for the other VM ${other.providerId}.`);
    }
  },
} as const satisfies CheckTable;
