import type { VmDifference } from "@millwright/core";
import { type Compare, differencesFound } from "@millwright/core/driver-kit";
import type { DiskResource, InstanceResource } from "../api/requests.ts";
import { candidatesOf } from "../launch/launch.ts";
import { isPathOf } from "../spec/network-paths.ts";
import type { GcpSpec } from "../spec/spec.ts";
import { ownerLabelKeys } from "../vm/owner-tags.ts";
import { nameIn } from "../vm/vm.ts";
import { compareDisks } from "./disks.ts";

/** The differences between a spec and an instance. User data are not compared: they are another text for each machine. */
export function differencesOf(
  spec: GcpSpec,
  instance: InstanceResource,
  disks: readonly DiskResource[],
): readonly VmDifference[] {
  return differencesFound((compare) => {
    const candidates = candidatesOf(spec);
    const machineType = nameIn(instance.machineType);
    const zone = nameIn(instance.zone);
    if (!candidates.some((candidate) => candidate.machineType === machineType)) {
      compare("machineType", spec.machineType, machineType);
    }
    if (zone !== "" && !candidates.some((candidate) => candidate.zone === zone)) compare("zone", spec.zone, zone);
    compare("canIpForward", spec.canIpForward, instance.canIpForward);
    compare("deletionProtection", spec.deletionProtection, instance.deletionProtection);
    compare("description", spec.description, instance.description ?? "");
    compareDisks(spec, instance, disks, compare);
    compareLabels(spec, instance, compare);
    compare(
      "minCpuPlatform",
      spec.minCpuPlatform === "" ? undefined : spec.minCpuPlatform,
      instance.minCpuPlatform ?? "",
    );
    compareMetadata(spec, instance, compare);
    compareInterfaces(spec, instance, compare);
    compareScheduling(spec, instance, compare);
    compare(
      "serviceAccounts",
      sorted(spec.serviceAccounts.map(({ email }) => email)),
      sorted((instance.serviceAccounts ?? []).map(({ email }) => email ?? "")),
    );
    compareShielded(spec, instance, compare);
    compare("tags", sorted(spec.tags), sorted(instance.tags?.items ?? []));
    compareGpu(spec, instance, compare);
  });
}

const sorted = (texts: readonly string[]): string => texts.toSorted().join(",");

function compareLabels({ labels }: GcpSpec, instance: InstanceResource, compare: Compare): void {
  const own = new Set<string>(Object.values(ownerLabelKeys));
  for (const key of Object.keys(labels)) {
    if (!own.has(key)) compare(`labels.${key}`, labels[key], instance.labels?.[key] ?? "");
  }
}

function compareMetadata({ metadata }: GcpSpec, instance: InstanceResource, compare: Compare): void {
  const found = new Map((instance.metadata?.items ?? []).map(({ key, value }) => [key, value ?? ""]));
  for (const [index, { key, value = "" }] of metadata.entries()) {
    compare(`metadata[${index}].value`, value, found.get(key) ?? "");
  }
}

function compareInterfaces({ networkInterfaces }: GcpSpec, instance: InstanceResource, compare: Compare): void {
  for (const [index, card] of networkInterfaces.entries()) {
    const at = `networkInterfaces[${index}]`;
    const found = instance.networkInterfaces?.[index];
    if (found === undefined) {
      compare(at, card.subnetwork === "" ? card.network : card.subnetwork, "");
      continue;
    }
    if (card.network !== "") compare(`${at}.network`, card.network, referenceIn(card.network, found.network));
    if (card.subnetwork !== "") {
      compare(`${at}.subnetwork`, card.subnetwork, referenceIn(card.subnetwork, found.subnetwork));
    }
    compare(`${at}.disableExternalIP`, card.disableExternalIP, (found.accessConfigs ?? []).length === 0);
    if (card.stackType === "IPV4_IPV6") compare(`${at}.stackType`, card.stackType, found.stackType);
  }
}

/** A reference of a VM in the form of the class: a name, or a path. */
const referenceIn = (wanted: string, found: string | null | undefined): string =>
  isPathOf(wanted, found ?? "") ? wanted : wanted.includes("/") ? (found ?? "") : nameIn(found);

function compareScheduling(
  { scheduling: wanted }: GcpSpec,
  { scheduling: found }: InstanceResource,
  compare: Compare,
): void {
  compare("scheduling.automaticRestart", wanted.automaticRestart, found?.automaticRestart);
  compare("scheduling.onHostMaintenance", wanted.onHostMaintenance, found?.onHostMaintenance);
  // Compute Engine shows spot VMs as preemptible ones, too.
  if (wanted.provisioningModel !== "SPOT") compare("scheduling.preemptible", wanted.preemptible, found?.preemptible);
  compare("scheduling.provisioningModel", wanted.provisioningModel, found?.provisioningModel);
  compare(
    "scheduling.instanceTerminationAction",
    wanted.instanceTerminationAction,
    found?.instanceTerminationAction ?? "",
  );
}

function compareShielded(
  { shieldedInstanceConfiguration: wanted }: GcpSpec,
  { shieldedInstanceConfig: found }: InstanceResource,
  compare: Compare,
): void {
  const at = "shieldedInstanceConfiguration";
  compare(`${at}.integrityMonitoring`, wanted?.integrityMonitoring, found?.enableIntegrityMonitoring);
  compare(`${at}.secureBoot`, wanted?.secureBoot, found?.enableSecureBoot);
  compare(`${at}.vtpm`, wanted?.vtpm, found?.enableVtpm);
}

function compareGpu({ gpu }: GcpSpec, { guestAccelerators }: InstanceResource, compare: Compare): void {
  if (gpu === undefined || guestAccelerators === undefined || guestAccelerators === null) return;
  const [found] = guestAccelerators;
  compare("gpu.acceleratorType", gpu.acceleratorType, nameIn(found?.acceleratorType));
  compare("gpu.count", gpu.count, found?.acceleratorCount ?? 0);
}
