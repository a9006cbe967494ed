import type { DriverContext } from "@millwright/core";
import { isCloudError } from "./cloud-error.ts";
import type { MockCloud } from "./cloud.ts";

/** The requests that the driver makes. */
export type DriverCloud = Pick<MockCloud, "createVm" | "deleteVm" | "getVm" | "listVms" | "tagVm">;

/** The cloud as one call of the driver uses it: every request is reported. */
export function reporting(cloud: DriverCloud, { clock, reportApiCall }: DriverContext): DriverCloud {
  if (reportApiCall === undefined) return cloud;
  const reported = async <T>(service: string, request: Promise<T>): Promise<T> => {
    const startMs = clock.monotonicMs();
    const report = (outcome: string): void =>
      reportApiCall({ service, outcome, seconds: (clock.monotonicMs() - startMs) / 1_000 });
    try {
      const answer = await request;
      report("ok");
      return answer;
    } catch (error) {
      report(isCloudError(error) ? error.code : "aborted");
      throw error;
    }
  };
  return {
    createVm: (input, options) => reported("instance_create", cloud.createVm(input, options)),
    deleteVm: (ref, options) => reported("instance_delete", cloud.deleteVm(ref, options)),
    getVm: (ref, options) => reported("instance_get", cloud.getVm(ref, options)),
    listVms: (filter, options) => reported("instance_list", cloud.listVms(filter, options)),
    tagVm: (ref, tags, options) => reported("instance_tag", cloud.tagVm(ref, tags, options)),
  };
}
