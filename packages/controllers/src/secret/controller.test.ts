import { finalizers, machineClassResource } from "@millwright/core/machine-api";
import { secretResource } from "@millwright/kube";
import type { FakeApi } from "@millwright/kube/testing";
import { describe, expect, it } from "vitest";
import type { SecretObject } from "../model/node-objects.ts";
import { aMachineClass, named, refOf, testNamespace } from "../testing/builders.ts";
import { runControllers, type RunningControllers } from "../testing/running-controllers.ts";
import { createSecretController } from "./controller.ts";

const ref = refOf("small");
const aSecret = (name: string, own: readonly string[] = []): SecretObject => ({
  metadata: { name, namespace: testNamespace, uid: `uid-${name}`, finalizers: own },
  data: { userData: "eA==" },
});
const start = (prepare: (api: FakeApi) => void): Promise<RunningControllers> =>
  runControllers((context) => [createSecretController(context, 1)], prepare);
const finalizersOf = ({ api }: RunningControllers, name = "small") =>
  api.peek<SecretObject>(secretResource, { ...ref, name })?.metadata.finalizers;

describe("Secret controller", () => {
  it("holds a secret from the first class that refers to it to the last, and reports why it stays", async () => {
    const cluster = await start((api) => void api.seed(secretResource, aSecret("small", ["theirs"])));
    expect(cluster.api.writes()).toEqual([]);
    cluster.api.seed(machineClassResource, aMachineClass());
    cluster.api.seed(
      machineClassResource,
      aMachineClass(named("b"), { secretRef: null, credentialsSecretRef: { name: "small", namespace: testNamespace } }),
    );
    await cluster.settle();
    expect(finalizersOf(cluster)).toEqual(["theirs", finalizers.secret]);

    await cluster.api.delete(secretResource, ref);
    await cluster.settle();
    cluster.api.remove(machineClassResource, ref);
    await cluster.settle();
    expect(finalizersOf(cluster)).toEqual(["theirs", finalizers.secret]);
    expect(cluster.events).toEqual([
      "StillInUse Cannot delete Secret small: still referenced by MachineClass b, small",
    ]);
    cluster.api.remove(machineClassResource, { ...ref, name: "b" });
    await cluster.settle();
    expect(finalizersOf(cluster)).toEqual(["theirs"]);
  });

  it("moves with the reference of a class", async () => {
    const cluster = await start((api) => {
      api.seed(secretResource, aSecret("small"));
      api.seed(secretResource, aSecret("new"));
      api.seed(machineClassResource, aMachineClass());
    });
    cluster.api.change(machineClassResource, ref, { secretRef: { name: "new" } });
    await cluster.settle();
    expect([finalizersOf(cluster), finalizersOf(cluster, "new")]).toEqual([[], [finalizers.secret]]);
  });

  it("finds at its start what was missed, and holds a secret that is created after its class", async () => {
    const cluster = await start((api) => {
      api.seed(secretResource, aSecret("left", ["theirs", finalizers.secret]));
      api.seed(machineClassResource, aMachineClass());
    });
    expect(finalizersOf(cluster, "left")).toEqual(["theirs"]);
    cluster.api.seed(secretResource, aSecret("small"));
    await cluster.settle();
    expect(finalizersOf(cluster)).toEqual([finalizers.secret]);
  });

  it("never changes a secret without references", async () => {
    const cluster = await start((api) => {
      for (let index = 0; index < 20; index++) api.seed(secretResource, aSecret(`other-${index}`));
    });
    cluster.api.change(secretResource, { ...ref, name: "other-3" }, { data: { a: "eQ==" } });
    await cluster.settle(3_600_000);
    expect(cluster.api.writes()).toEqual([]);
  });

  it("releases no secret while there is a class that cannot be read, for it may refer to any", async () => {
    const cluster = await start((api) => {
      api.seed(secretResource, aSecret("small"));
      api.seed(machineClassResource, aMachineClass());
    });
    cluster.api.change(machineClassResource, ref, { providerSpec: 7 });
    await cluster.settle();
    expect(finalizersOf(cluster)).toEqual([finalizers.secret]);
    cluster.api.remove(machineClassResource, ref);
    await cluster.settle();
    expect(finalizersOf(cluster)).toEqual([]);
  });
});
