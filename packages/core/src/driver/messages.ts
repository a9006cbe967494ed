import type { Secret, SecretData } from "@millwright/base";
import type { NodeTemplate } from "../api/kinds/machine-class.ts";
import type { NodeAddress } from "../api/kinds/machine.ts";

/** The machine that a call is about. */
export interface MachineIdentity {
  /** Name of the Machine object: unique in its namespace, at most 253 characters, and as a rule the name of the VM and its node. */
  readonly name: string;
  readonly namespace: string;
  /**
   * UID of the Machine object: unlike the name it is never used again. Empty when an orphaned VM is deleted that had no UID tag. An object that is restored from a backup has another one
   * than the tag of its VM; use `ownsVm` of the driver kit to find the owner of a VM.
   */
  readonly uid: string;
  /** `spec.providerID`, once it has been stored. */
  readonly providerId?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** `spec.nodeTemplate.metadata.annotations`: the annotations of the future node. Some of MCM's drivers read settings of single machines there. */
  readonly nodeAnnotations?: Readonly<Record<string, string>>;
}

/** The class that a call is about, with its spec as the driver's schema returned it. */
export interface ClassIdentity<Spec> {
  readonly name: string;
  readonly spec: Spec;
  /** What a node of this class will look like, for autoscaling from zero. */
  readonly nodeTemplate?: NodeTemplate;
}

/** A call about one machine. */
export interface MachineRequest<Spec> {
  readonly machine: MachineIdentity;
  readonly machineClass: ClassIdentity<Spec>;
  /** The class secret: the data of `secretRef` overlaid with that of `credentialsSecretRef`. Read it on every call: it may change. */
  readonly secret: SecretData;
}

/** The call that makes a VM. */
export interface CreateMachineRequest<Spec> extends MachineRequest<Spec> {
  /**
   * The same for every attempt to create this VM, also by another process, and never used for another VM. It changes only after an error which guarantees that
   * no VM of this token exists or will exist (`rejectionCodes`, `tokenIsSpent`). At most 64 characters of `A-Z`, `a-z`,
   * `0-9` and `-`. Pass it to the cloud if it supports such tokens, otherwise store it as a tag.
   */
  readonly idempotencyToken: string;
  /**
   * What the VM runs at its first boot, with the placeholders replaced. May differ between two attempts of one creation (a new bootstrap token), which does
   * not make it another VM. Contains a token that lets a node join: keep it out of tags and messages.
   */
  readonly userData: Secret;
}

/** A VM that was created, or existed already. */
export interface CreateMachineResponse {
  /**
   * The id under which the VM is found again, stored in `Machine.spec.providerID`, for example `mock:///eu-1/i-1234`. Never empty. The Node's own
   * `spec.providerID` may have another form; see `matchNode`.
   */
  readonly providerId: string;
  /** The name under which the node will register. Never empty. */
  readonly nodeName: string;
  readonly addresses?: readonly NodeAddress[];
  /** Stored in `status.lastKnownState`. */
  readonly lastKnownState?: string;
}

/**
 * The response to a call that the infrastructure has accepted and not completed, such as a server that takes 20 minutes to install or wipe. It is not a failure: the controller repeats the
 * call after the given time while the response is pending.
 */
export interface PendingResponse {
  readonly pending: {
    /**
     * What the infrastructure is doing, for users: `installing the operating system on server r12-7`. It is shown in the status of the machine. Keep it the same while the
     * infrastructure does the same: each change is a write.
     */
    readonly message: string;
    /** Milliseconds until the call is repeated; the host keeps it between {@link minCheckAfterMs} and {@link maxCheckAfterMs}. */
    readonly checkAfterMs: number;
  };
}

/** Shortest time between two calls about an operation that is pending, milliseconds. */
export const minCheckAfterMs = 1_000;

/** Longest time between two calls about an operation that is pending, milliseconds. */
export const maxCheckAfterMs = 600_000;

/** A VM that was found. */
export interface MachineStatusResponse {
  readonly providerId: string;
  readonly nodeName: string;
  readonly addresses?: readonly NodeAddress[];
  /** False when `initializeMachine` has not been done for this VM (MCM's code Uninitialized). True by default. */
  readonly initialized?: boolean;
}

/** The VM is deleted. */
export interface DeleteMachineResponse {
  /**
   * What the driver has read of the VM. `ended`: it saw the VM, and after the request that it has ended or is absent. `missing`: it found none; a cloud may show a new VM only after seconds, and with
   * credentials of another account, or in another place, all VMs are missing. Left out: nothing. Unless the VM has ended, `getMachineStatus` is called once after the deletion; a VM that it finds is
   * an error. For a machine whose VM may just have been requested, a missing VM is looked for again.
   */
  readonly vm?: "ended" | "missing";
  /** Reads of this cloud show each VM at once, so that one which is missing was not requested: it is not looked for again. Default false. */
  readonly showsNewVms?: boolean;
  /** Stored in `status.lastKnownState`; without it the stored text is cleared. */
  readonly lastKnownState?: string;
}

/** The VM is initialized. */
export interface InitializeMachineResponse {
  readonly providerId: string;
  readonly nodeName: string;
  readonly addresses?: readonly NodeAddress[];
}

/** The call that lists the VMs of a class. */
export interface ListMachinesRequest<Spec> {
  readonly machineClass: ClassIdentity<Spec>;
  readonly secret: SecretData;
}

/** A VM in a list. */
export interface ListedMachine {
  readonly providerId: string;
  /** Name of the Machine object that it was created for; never anything else, or the VM would count as an orphan and be deleted. */
  readonly machineName: string;
  /** UID of that object, if the driver stores it, as in the tag of the VM. After a restore from a backup it is that of the former object: the VM is then not an orphan, although no machine has this UID. */
  readonly machineUid?: string;
  /** Namespace of that object, if the driver stores it. A VM of another namespace is never an orphan: other controllers manage its machine. */
  readonly machineNamespace?: string;
  /**
   * What is left of the machine where its VM does not exist, such as `NIC m-nic`, for people; absent or empty: there is a VM. Only what `deleteMachine` would delete. Leftovers without a machine are reported and deleted as VMs
   * without one are; the machine of leftovers has no VM.
   */
  readonly parts?: readonly string[];
}

/** The VMs of a class: complete, or the call fails. */
export interface ListMachinesResponse {
  readonly machines: readonly ListedMachine[];
}

/** The call that translates persistent volumes. */
export interface GetVolumeIdsRequest {
  /** `spec` of each PersistentVolume, as the API server holds it. */
  readonly volumes: readonly Readonly<Record<string, unknown>>[];
}

/** The ids of the volumes. */
export interface GetVolumeIdsResponse {
  /** One entry for each requested volume, in the same order; undefined for a volume of another infrastructure. */
  readonly volumeIds: readonly (string | undefined)[];
}

/** A difference between a VM and its class. */
export interface VmDifference {
  /** Path of the field in `providerSpec`, such as `machineType` or `networkInterfaces[0].subnetID`. */
  readonly field: string;
  /** The value in the class, as text. */
  readonly wanted: string;
  /** The value of the VM, as text; empty for none. */
  readonly found: string;
}

/** How a VM differs from its class. */
export interface FindDriftResponse {
  readonly providerId: string;
  /** In the order of their fields; empty when there is none. */
  readonly differences: readonly VmDifference[];
}

/** The call that reads the capacity of a class. */
export interface GetNodeTemplateRequest<Spec> {
  readonly machineClass: ClassIdentity<Spec>;
  readonly secret: SecretData;
}

/** What a node of a class will have. */
export interface GetNodeTemplateResponse {
  readonly nodeTemplate: NodeTemplate;
}

/** The call that checks a class. */
export interface CheckClassRequest<Spec> {
  readonly machineClass: ClassIdentity<Spec>;
  readonly secret: SecretData;
}

/** Result of a check. `warning`: machines can be created, but there is a problem. `skipped`: the driver could not check; the message contains why. */
export type CheckStatus = "ok" | "warning" | "failed" | "skipped";

/** One thing that was checked, and what was found. */
export interface CheckOutcome {
  /** What was checked, as a short noun, unique within a reply: `Credentials`, `Image`, `Subnet`. */
  readonly name: string;
  readonly status: CheckStatus;
  /** What was found, with the names and values that matter. Never a secret. */
  readonly message: string;
  /** What a person can do about it. */
  readonly remedy?: string;
}

/** Checks of a class in the order in which users should read them: those that others depend on first. */
export interface CheckClassResponse {
  readonly checks: readonly CheckOutcome[];
}
