import { type MachineClass, machineClassResource } from "@millwright/core/machine-api";
import { secretResource } from "@millwright/kube";
import { afterEach, describe, expect, it } from "vitest";
import {
  aMachine,
  aMachineClass,
  annotated,
  beingDeleted,
  type Change,
  named,
  testNamespace,
} from "../../testing/builders.ts";
import { createTestCluster } from "../../testing/cluster.ts";
import { createFakeDriver } from "../../testing/fake-driver.ts";
import { intentAnnotation, intentFor } from "../../model/creation-intent.ts";
import { observeClass } from "../observe-class.ts";
import { remedyFor, fallbackClassFor } from "./fallback-class.ts";

const place = (region: string, zone: string) => ({
  nodeTemplate: { capacity: { cpu: 1, gpu: 0, memory: "1Gi" }, instanceType: "s", region, zone },
});
const lost = aMachineClass(named("lost"), place("eu", "eu-b"));
const intent = intentFor(aMachine(), lost, { wantsToken: false });
const machine = aMachine(annotated(intentAnnotation(intent)), {
  spec: { class: { name: "lost" }, providerID: "vm-1" },
});
const stop = new AbortController();
afterEach(() => stop.abort());

async function fallback(classes: readonly (readonly Change<MachineClass>[])[], of = machine) {
  const { api, newContext, run } = createTestCluster();
  for (const changes of classes) api.seed(machineClassResource, aMachineClass(...changes));
  for (const name of ["small", "other"])
    api.seed(secretResource, { metadata: { namespace: testNamespace, name }, data: { userData: "eA==" } });
  const context = newContext();
  const end = new AbortController();
  await run(context, end.signal);
  await context.caches.secrets.read(["small", "other"]);
  const resolved = fallbackClassFor(of, context.caches, testNamespace, createFakeDriver());
  end.abort();
  return resolved?.view.state === "usable" ? resolved.view.machineClass.metadata.name : undefined;
}

// A deleted class does not keep a VM forever, and no VM is searched in the wrong place.
describe("the fallback for a deleted class", () => {
  it("has the same driver, region and credentials", async () => {
    expect(await fallback([[named("a"), place("eu", "eu-a")]])).toBe("a");
    expect(await fallback([[named("a"), place("us", "eu-a")]])).toBeUndefined();
    expect(await fallback([[named("a")]])).toBeUndefined();
    expect(await fallback([[named("a"), place("eu", "eu-a"), { provider: "other" }]])).toBeUndefined();
    expect(await fallback([[named("a"), place("eu", "eu-a"), { secretRef: { name: "other" } }]])).toBeUndefined();
    expect(
      await fallback([[named("a"), place("eu", "eu-a"), { credentialsSecretRef: { name: "other" } }]]),
    ).toBeUndefined();
    const sameCredentials = { secretRef: { name: "other" }, credentialsSecretRef: { name: "small" } };
    expect(await fallback([[named("a"), place("eu", "eu-a"), sameCredentials]])).toBe("a");
    const inGroup = (resourceGroup: string) => ({ providerSpec: { resourceGroup } });
    const ofGroup = intentFor(aMachine(), aMachineClass(lost, inGroup("blue")), { wantsToken: false });
    const inBlue = aMachine(machine, annotated(intentAnnotation(ofGroup)));
    expect(await fallback([[named("a"), place("eu", "eu-a"), inGroup("blue")]], inBlue)).toBe("a");
    expect(await fallback([[named("a"), place("eu", "eu-a"), inGroup("green")]], inBlue)).toBeUndefined();
    // No Secret at all proves nothing.
    const bare = { ...intent, secretRef: undefined };
    const ofNone = aMachine(machine, annotated(intentAnnotation(JSON.parse(JSON.stringify(bare)))));
    expect(await fallback([[named("a"), place("eu", "eu-a"), { secretRef: null }]], ofNone)).toBeUndefined();
  });

  it("is of the same zone where there is a choice, and else the first by name", async () => {
    expect(
      await fallback([
        [named("a"), place("eu", "eu-a")],
        [named("b"), place("eu", "eu-b")],
      ]),
    ).toBe("b");
    expect(
      await fallback([
        [named("b"), place("eu", "eu-a")],
        [named("a"), place("eu", "eu-a")],
        [named("c"), place("eu", "eu-a")],
      ]),
    ).toBe("a");
    const anywhere = intentFor(aMachine(), aMachineClass(), { wantsToken: false });
    expect(
      await fallback(
        [[named("a"), place("", "eu-a")], [named("b")]],
        aMachine(machine, annotated(intentAnnotation(anywhere))),
      ),
    ).toBe("b");
  });

  it("can be used itself", async () => {
    const secretRef = { name: "missing" };
    const withoutSecret = aMachine(machine, annotated(intentAnnotation({ ...intent, secretRef: "missing" })));
    expect(await fallback([[named("a"), place("eu", "eu-a"), { secretRef }]], withoutSecret)).toBeUndefined();
    // A deletion needs no user data.
    const credentials = { secretRef, credentialsSecretRef: { name: "small" } };
    expect(await fallback([[named("a"), place("eu", "eu-a"), credentials]])).toBe("a");
  });

  it("is not used when the id of the VM is unknown, or there is no intent", async () => {
    const there = [[named("a"), place("eu", "eu-a")]];
    expect(await fallback(there, aMachine(machine, { spec: { providerID: null } }))).toBeUndefined();
    expect(await fallback(there, aMachine({ spec: { providerID: "vm-1" } }))).toBeUndefined();
  });
});

describe("what a person can do", () => {
  it("is to restore what the machine was created from", () => {
    expect(remedyFor(machine)).toBe(
      '; its VM was created by driver "mock" in region eu from MachineClass "lost" with Secret "small": restore them',
    );
    const both = intentFor(aMachine(), aMachineClass({ credentialsSecretRef: { name: "c" } }), { wantsToken: false });
    expect(remedyFor(aMachine(annotated(intentAnnotation(both))))).toBe(
      '; its VM was created by driver "mock" from MachineClass "small" with Secret "small" and "c": restore them',
    );
  });

  it("is not known of a machine without intent", () => {
    expect(remedyFor(aMachine())).toBe("");
  });
});

it("is not looked for while the Secret of the own class was not read yet, as after a start", async () => {
  const { api, newContext, run } = createTestCluster();
  for (const name of ["lost", "a"]) api.seed(machineClassResource, aMachineClass(named(name), place("eu", "eu-b")));
  api.seed(secretResource, { metadata: { name: "small", namespace: testNamespace }, data: {} });
  const context = newContext();
  const end = new AbortController();
  await run(context, end.signal);
  const going = aMachine(machine, beingDeleted());
  const resolved = observeClass(going, context, createFakeDriver());
  expect(resolved.unread).toEqual(["small"]);
  expect(resolved.view).toMatchObject({ state: "unusable", problem: expect.stringContaining('MachineClass "lost"') });
  end.abort();
});
