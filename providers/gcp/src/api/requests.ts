import type { Page } from "@millwright/core/driver-kit";
import type { google } from "@google-cloud/compute/build/protos/protos.js";
import type { ApiService } from "./api-call.ts";
import type { Operation } from "./operation.ts";

/** An instance in the types of the SDK. */
export type InstanceResource = google.cloud.compute.v1.IInstance;
/** A disk in the types of the SDK. */
export type DiskResource = google.cloud.compute.v1.IDisk;
/** A machine type in the types of the SDK. */
export type MachineTypeResource = google.cloud.compute.v1.IMachineType;

/** Where an instance is. */
export interface Place {
  readonly project: string;
  readonly zone: string;
}

/** The requests that the driver makes. They reject with `GceFailure`, with what broke the connection, and with the signal's reason when it aborts. */
export interface GceApi {
  /** Undefined when there is no such instance. */
  getInstance(place: Place, name: string, signal: AbortSignal): Promise<InstanceResource | undefined>;
  listInstances(place: Place, pageToken: string | undefined, signal: AbortSignal): Promise<Page<InstanceResource>>;
  insertInstance(place: Place, instance: InstanceResource, requestId: string, signal: AbortSignal): Promise<Operation>;
  deleteInstance(place: Place, name: string, requestId: string, signal: AbortSignal): Promise<Operation>;
  /** Disks that carry a label. */
  listDisks(
    place: Place,
    label: { readonly key: string; readonly value: string },
    pageToken: string | undefined,
    signal: AbortSignal,
  ): Promise<Page<DiskResource>>;
  deleteDisk(place: Place, name: string, requestId: string, signal: AbortSignal): Promise<Operation>;
  /** Undefined when there is no such operation. */
  getOperation(place: Place, name: string, signal: AbortSignal): Promise<Operation | undefined>;
  /** Operations that a filter of Compute Engine lets through. */
  listOperations(
    place: Place,
    filter: string,
    pageToken: string | undefined,
    signal: AbortSignal,
  ): Promise<Page<Operation>>;
  /**
   * A resource as plain JSON, for checks of classes; undefined when there is none.
   *
   * @param path below `projects/`: `my-project/regions/europe-west1`
   */
  getResource(service: ApiService, path: string, signal: AbortSignal): Promise<unknown>;
  /** Which of these permissions the credentials have in a project. */
  testPermissions(project: string, permissions: readonly string[], signal: AbortSignal): Promise<ReadonlySet<string>>;
  getMachineType(place: Place, name: string, signal: AbortSignal): Promise<MachineTypeResource>;
  /** Closes the connections. Calls that are under way fail. */
  close(): void;
}
