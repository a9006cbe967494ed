import {
  labelKeys,
  type Machine,
  machineClassResource,
  type MachineDeployment,
  machineDeploymentResource,
  machineResource,
  type MachineSet,
  machineSetResource,
} from "@millwright/core/machine-api";
import { ApiError, nodeResource, type ResourceType, secretResource } from "@millwright/kube";
import type { FakeCall, FakeVerb } from "@millwright/kube/testing";
import type { Node } from "../model/node-objects.ts";
import { aMachineClass, aMachineDeployment, aNode, testNamespace } from "./builders.ts";
import { aWholeCluster } from "./whole-cluster.ts";

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const POOL = { namespace: testNamespace, name: "pool" };
export const TEMPLATE_LABEL = "example.com/pool";

/** Writes that a webhook, a policy or a quota refuses. */
export interface Cell {
  readonly verb: "create" | "patch" | "delete";
  readonly type: ResourceType;
  /** `undefined`: the object and its status. */
  readonly subresource: "" | "status" | undefined;
  /** Reasons of the events that show it. */
  readonly shownBy: string;
}

/** Object and status at once, as by a policy that matches `*`. */
export const wholeCellOf = (type: ResourceType): Cell => ({
  verb: "patch",
  type,
  subresource: undefined,
  shownBy: "WriteRefused",
});

/** The cell of a table of writes. */
export const cellOf = (
  verb: Cell["verb"],
  type: ResourceType,
  subresource: Cell["subresource"] = "",
  shownBy = "WriteRefused",
): Cell => ({ verb, type, subresource, shownBy });

const isOf = (cell: Cell, { verb, resource, subresource = "" }: FakeCall): boolean =>
  verb === cell.verb &&
  resource.split(".")[0] === cell.type.plural &&
  subresource === (cell.subresource ?? subresource);

const faultOf = ({ type, subresource, verb }: Cell) => ({
  type,
  verb,
  ...(subresource === undefined ? {} : { subresource }),
});

/** A pool whose machines join as nodes, under an API server that refuses one kind of writes. */
export async function aRefusingPool(cell: Cell, status = 403) {
  const cluster = await aWholeCluster(3);
  const { api, clock, driver, events } = cluster;
  const kubelets = (): void => {
    for (const { metadata, spec } of api.all<Machine>(machineResource)) {
      const name = metadata.labels?.[labelKeys.node];
      const { providerID = "" } = spec;
      if (name === undefined || providerID === "" || api.peek(nodeResource, { name }) !== undefined) continue;
      if (![...driver.vms.values()].includes(providerID)) continue;
      const creationTimestamp = clock.now().toISOString();
      const conditions = [{ type: "Ready", status: "True", lastTransitionTime: creationTimestamp }];
      const capacity = { cpu: "2" };
      api.seed(
        nodeResource,
        aNode({ metadata: { name, creationTimestamp }, spec: { providerID }, status: { conditions, capacity } }),
      );
    }
  };
  const pass = async (ms: number, step = 10 * SECOND): Promise<void> => {
    for (let passed = 0; passed < ms; passed += step) {
      kubelets();
      await cluster.pass(step);
    }
  };
  const error = new ApiError({ status, reason: "Forbidden", message: "admission webhook denied the request" });
  let refusal: { verb: FakeVerb } = { verb: "replace" };
  return {
    ...cluster,
    pass,
    /** Writes of the cell by object, and by status or not: each has a backoff of its own. */
    attempts: () =>
      Map.groupBy(
        api.calls.filter((call) => isOf(cell, call)),
        ({ key, subresource = "" }) => `${key} ${subresource}`,
      ),
    /** Default: all. */
    refuse(times = Number.POSITIVE_INFINITY): void {
      api.calls.length = 0;
      events.length = 0;
      const fault = { ...faultOf(cell), error, times };
      refusal = fault;
      api.inject(fault);
    },
    /** Nothing else is replaced. */
    allow: () => void (refusal.verb = "replace"),
    machines: () => api.all<Machine>(machineResource),
    sets: () => api.all<MachineSet>(machineSetResource),
    nodes: () => api.all<Node>(nodeResource),
    deployment: () => api.peek<MachineDeployment>(machineDeploymentResource, POOL),
    condition: (type: string) =>
      api
        .peek<MachineDeployment>(machineDeploymentResource, POOL)
        ?.status?.conditions?.find((condition) => condition.type === type),
    seedPool(): void {
      const nodeTemplate = { metadata: { labels: { [TEMPLATE_LABEL]: "a" } } };
      const template = aMachineDeployment().spec.template;
      api.seed(
        machineDeploymentResource,
        aMachineDeployment({
          metadata: { finalizers: [] },
          spec: { replicas: 2, template: { ...template, spec: { ...template.spec, nodeTemplate } } },
        }),
      );
    },
    rollOut(): void {
      const name = "other";
      const secret = { metadata: { namespace: testNamespace, name }, data: { userData: "eA==" } };
      api.seed(secretResource, secret);
      const nodeTemplate = {
        capacity: { cpu: "2", gpu: "0", memory: "1Gi" },
        instanceType: "x",
        region: "r",
        zone: "z",
        virtualCapacity: { "example.com/gpu": "1" },
      };
      const secretRef = { name, namespace: testNamespace };
      api.seed(machineClassResource, aMachineClass({ metadata: { name, uid: "uid-other" }, secretRef, nodeTemplate }));
      api.change(machineDeploymentResource, POOL, {
        spec: { revisionHistoryLimit: 0, template: { spec: { class: { name } } } },
      });
    },
  };
}

/** See {@link aRefusingPool}. */
export type RefusingPool = Awaited<ReturnType<typeof aRefusingPool>>;
