import { ownerOf, type Truth } from "../world/truth.ts";

/** What is still to be done before everything is as it was declared; empty when it is. */
export function workLeft(truth: Truth): readonly string[] {
  if (truth.pool() === undefined) return ["the deployment is missing"];
  const left = [
    ...truth.terminatingNamespaces().map((name) => `namespace ${name} is terminating`),
    // The record of one that has a machine again ends with the next list of the VMs.
    ...truth.classesWithQuarantine().map((name) => `class ${name} has VMs in quarantine`),
  ];
  const desired = truth.pools().reduce((total, { spec }) => total + (spec.replicas ?? 0), 0);
  const machines = truth.machines();
  const expect = (what: string, is: number, wanted: number): void => {
    if (is !== wanted) left.push(`${what}: ${is} instead of ${wanted}`);
  };
  expect("machines", machines.length, desired);
  const isRunning = (phase: string | undefined): boolean => phase === "Running";
  expect("running machines", machines.filter(({ status }) => isRunning(status?.currentStatus?.phase)).length, desired);
  const vms = truth.liveVms().filter((vm) => ownerOf(vm).uid !== "");
  expect("VMs", vms.length, desired);
  for (const vm of vms) if (truth.machinesOf(vm).length === 0) left.push(`VM ${vm.id} has no machine`);
  expect("nodes", truth.nodeNames().length, desired);
  expect("ready nodes", truth.nodeNames().filter((name) => truth.isReady(name)).length, desired);
  for (const { metadata, spec, status } of truth.pools()) {
    const { namespace, name } = metadata;
    const replicas = spec.replicas ?? 0;
    const expectInStatus = (field: string, is = 0, wanted = replicas): void =>
      expect(`${field} of ${namespace}/${name}`, is, wanted);
    expectInStatus("replicas", status?.replicas);
    expectInStatus("availableReplicas", status?.availableReplicas);
    expectInStatus("updatedReplicas", status?.updatedReplicas);
    expectInStatus("observedGeneration", status?.observedGeneration, metadata.generation);
    const own = machines.filter(
      (each) => each.metadata.namespace === namespace && each.metadata.labels?.["name"] === name,
    );
    expect(`machines of ${namespace}/${name}`, own.length, replicas);
  }
  return left;
}
