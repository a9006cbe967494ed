import { machineClassResource } from "@millwright/core/machine-api";
import { secretResource } from "@millwright/kube";
import { serverError } from "@millwright/kube/testing";
import { expect, it } from "vitest";
import { aMachine, aMachineClass, annotated, testNamespace } from "../testing/builders.ts";
import { type ClassChecks, createClassChecks } from "../cluster/class-checks.ts";
import { createTestCluster } from "../testing/cluster.ts";
import { intentFor, isStored, isWithoutRequest } from "../model/creation-intent.ts";
import { intentAtBirth } from "./creation-intent.ts";

const encode = (text: string) => Buffer.from(text).toString("base64");
const machineClass = aMachineClass({ credentialsSecretRef: { name: "cloud" } });

async function atBirth(
  userData: Readonly<Record<string, string>>,
  options: { readonly hasTarget?: boolean; readonly isBroken?: boolean; readonly classChecks?: ClassChecks } = {},
) {
  const { api, newContext, run } = createTestCluster();
  api.seed(machineClassResource, machineClass);
  for (const [name, text] of Object.entries(userData))
    api.seed(secretResource, { metadata: { namespace: testNamespace, name }, data: { userData: encode(text) } });
  if (userData["small"] !== undefined && userData["cloud"] === undefined)
    api.seed(secretResource, { metadata: { namespace: testNamespace, name: "cloud" }, data: {} });
  const { target, ...rest } = newContext();
  const context = { ...rest, ...(options.classChecks === undefined ? {} : { classChecks: options.classChecks }) };
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
});

const isDeletable = (annotations: Readonly<Record<string, string>>): boolean =>
  isWithoutRequest(aMachine(annotated(annotations)));

it("records that no VM was requested while the secrets of the class do not exist, or cannot be read", async () => {
  expect(isDeletable(await (await atBirth({}))())).toBe(true);
  expect(isDeletable(await (await atBirth({ small: "boot" }, { isBroken: true }))())).toBe(true);
});

it("records the same for a class that is not known yet, or whose driver is not loaded or rejects it", async () => {
  const of = await atBirth({ small: "boot" });
  expect(isDeletable(await of(aMachine({ spec: { class: { name: "later" } } })))).toBe(true);
  expect(isDeletable(await of(aMachine({ spec: { class: null } })))).toBe(true);
  for (const answers of [
    { missingDriver: () => "provider: no driver" },
    { rejectionOf: async () => ({ reason: "InvalidSecret", problem: "secret: no" }) },
  ]) {
    const classChecks = createClassChecks({
      missingDriver: () => undefined,
      rejectionOf: async () => undefined,
      ...answers,
    });
    const rejected = await atBirth({ small: "boot" }, { classChecks });
    expect(isDeletable(await rejected())).toBe(true);
  }
});
