import { ownerOf, type Truth } from "../world/truth.ts";

/** What is still to be done before everything is as it was declared; empty when it is. */
export function workLeft(truth: Truth): readonly string[] {
  const pool = truth.pool();
  if (pool === undefined) return ["the deployment is missing"];
  const left: string[] = [];
  const desired = pool.spec.replicas ?? 0;
  const machines = truth.machines();
  const expect = (what: string, is: number, wanted: number): void => {
    if (is !== wanted) left.push(`${what}: ${is} instead of ${wanted}`);
  };
  expect("machines", machines.length, desired);
  const isRunning = (phase: string | undefined): boolean => phase === "Running";
  expect("running machines", machines.filter(({ status }) => isRunning(status?.currentStatus?.phase)).length, desired);
  const vms = truth.liveVms().filter((vm) => ownerOf(vm).uid !== "");
  expect("VMs", vms.length, desired);
  const uids = new Set(machines.map(({ metadata }) => metadata.uid));
  for (const vm of vms) if (!uids.has(ownerOf(vm).uid)) left.push(`VM ${vm.id} has no machine`);
  expect("nodes", truth.nodeNames().length, desired);
  expect("ready nodes", truth.nodeNames().filter((name) => truth.isReady(name)).length, desired);
  expect("replicas in the status", pool.status?.replicas ?? 0, desired);
  expect("available replicas in the status", pool.status?.availableReplicas ?? 0, desired);
  expect("updated replicas in the status", pool.status?.updatedReplicas ?? 0, desired);
  expect("observed generation", pool.status?.observedGeneration ?? 0, pool.metadata.generation ?? 0);
  return left;
}
