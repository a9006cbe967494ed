/** The Leases of MCM's two programs, each of which one process holds that runs the controllers of that program (MCM, `cmd/machine-controller-manager/app/controllermanager.go` and `pkg/util/provider/app/app.go`). In the order in which they are taken. */
export const leaseNames = ["machine-controller-manager", "machine-controller"] as const;

/** One of {@link leaseNames}. */
export type LeaseName = (typeof leaseNames)[number];

/** A controller that can be selected by its name. */
export interface ControllerInfo {
  readonly name: string;
  /** The Lease without which it does not run, which is the name of MCM's program that has it. */
  readonly lease: LeaseName;
  /** Completes "the controller …". */
  readonly does: string;
}

const [ofOwners, ofMachines] = leaseNames;

/** All controllers, in the order in which they stop. */
export const controllerInfos = [
  { name: "machineset", lease: ofOwners, does: "maintains the number of machines of MachineSets" },
  { name: "machinedeployment", lease: ofOwners, does: "rolls templates out over MachineSets" },
  { name: "machine", lease: ofMachines, does: "creates, watches, drains and deletes machines" },
  {
    name: "machineclass",
    lease: ofMachines,
    does: "keeps classes in use, checks them and fills in their node template",
  },
  { name: "secret", lease: ofMachines, does: "keeps the Secrets of classes in use" },
  { name: "machine-safety-orphan-vms", lease: ofMachines, does: "deletes VMs without machine" },
  { name: "node", lease: ofMachines, does: "marks Nodes without machine" },
] as const satisfies readonly ControllerInfo[];

/** Name of a controller. */
export type ControllerName = (typeof controllerInfos)[number]["name"];

/** All names of {@link controllerInfos}. */
export const controllerNames: readonly ControllerName[] = controllerInfos.map(({ name }) => name);

/** The Leases of some controllers, in the order in which they are taken. */
export const leasesOf = (names: readonly ControllerName[]): readonly LeaseName[] =>
  leaseNames.filter((lease) => controllerInfos.some((each) => each.lease === lease && names.includes(each.name)));

/**
 * The controllers that a list selects, as that of kube-controller-manager's `--controllers`: `*` selects all, `name` one and `-name` leaves one out; the first item that names a controller
 * decides. The name of a Lease stands for all its controllers.
 *
 * @returns the names, or why the list selects none
 */
export function selectControllers(items: readonly string[]): readonly ControllerName[] | { readonly problem: string } {
  const known: readonly string[] = [...controllerNames, ...leaseNames];
  const unknown = items.find((item) => item !== "*" && !known.includes(item.replace(/^-/, "")));
  if (unknown !== undefined)
    return { problem: `there is no controller "${unknown}"; expected *, ${known.join(", ")}, or -NAME` };
  const names = controllerInfos
    .filter(({ name, lease }) => {
      const first = items.map((item) => item.replace(/^-/, "")).findIndex((item) => item === name || item === lease);
      return first < 0 ? items.includes("*") : items[first]?.startsWith("-") === false;
    })
    .map(({ name }) => name);
  if (names.length === 0) return { problem: `it selects no controller; write *,${items.join(",")} for all others` };
  return names;
}
