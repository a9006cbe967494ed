import { machineClassResource } from "@millwright/core";
import { secretResource } from "@millwright/kube";
import { serverError } from "@millwright/kube/testing";
import { expect, it } from "vitest";
import { aMachine, aMachineClass, annotated, testNamespace } from "../testing/builders.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { intentFor, isStored } from "../model/creation-intent.ts";
import { intentAtBirth } from "./creation-intent.ts";

const encode = (text: string) => Buffer.from(text).toString("base64");
const machineClass = aMachineClass({ credentialsSecretRef: { name: "cloud" } });

async function atBirth(
  userData: Readonly<Record<string, string>>,
  options: { readonly hasTarget?: boolean; readonly isBroken?: boolean } = {},
) {
  const { api, newContext, run } = createTestCluster();
  api.seed(machineClassResource, machineClass);
  for (const [name, text] of Object.entries(userData))
    api.seed(secretResource, { metadata: { namespace: testNamespace, name }, data: { userData: encode(text) } });
  const { target, ...context } = newContext();
  const stop = new AbortController();
  await run({ ...context, target }, stop.signal);
  stop.abort();
  if (options.isBroken === true) api.inject({ verb: "get", type: secretResource, error: serverError() });
  return (machine = aMachine()) =>
    intentAtBirth(machine, options.hasTarget === false ? context : { ...context, target });
}
const isWhatWillBeAsked = (annotations: Readonly<Record<string, string>>, wantsToken: boolean): boolean =>
  isStored(aMachine(annotated(annotations)), intentFor(aMachine(), machineClass, { wantsToken }));

it("writes at birth what the machine controller would write later, so that it need not", async () => {
  expect(isWhatWillBeAsked(await (await atBirth({ small: "boot" }))(), false)).toBe(true);
  expect(isWhatWillBeAsked(await (await atBirth({ small: "<<BOOTSTRAP_TOKEN>>" }))(), true)).toBe(true);
  expect(isWhatWillBeAsked(await (await atBirth({ small: "<<BOOTSTRAP_TOKEN>>", cloud: "boot" }))(), false)).toBe(true);
  expect(
    isWhatWillBeAsked(await (await atBirth({ small: "<<BOOTSTRAP_TOKEN>>" }, { hasTarget: false }))(), false),
  ).toBe(true);
  expect(isWhatWillBeAsked(await (await atBirth({}))(), false)).toBe(true);
});

it("writes nothing while the secrets of the class cannot be read: the machine controller reports that", async () => {
  expect(await (await atBirth({ small: "boot" }, { isBroken: true }))()).toEqual({});
});

it("writes nothing for a class that is not known yet", async () => {
  const of = await atBirth({});
  expect(await of(aMachine({ spec: { class: { name: "later" } } }))).toEqual({});
  expect(await of(aMachine({ spec: { class: null } }))).toEqual({});
});
