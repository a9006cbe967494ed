import type { Driver } from "../driver/driver.ts";
import type { CreateMachineResponse, DeleteMachineResponse, PendingResponse } from "../driver/messages.ts";

/** A driver whose creations and deletions are never pending. */
export type ImmediateDriver<Spec> = Omit<Driver<Spec>, "createMachine" | "deleteMachine"> & {
  createMachine(...call: Parameters<Driver<Spec>["createMachine"]>): Promise<CreateMachineResponse>;
  deleteMachine(...call: Parameters<Driver<Spec>["deleteMachine"]>): Promise<DeleteMachineResponse>;
};

function final<Response extends object>(response: Response | PendingResponse): Response {
  if ("pending" in response) throw new Error(`the answer is pending: ${response.pending.message}`);
  return response;
}

/**
 * A driver for tests in which every creation and deletion has to come to its end: one that answers pending fails the test.
 *
 * @example
 * const driver = withoutPending(createMockDriver({ cloud }));
 * const { providerId } = await driver.createMachine(request, context);
 */
export const withoutPending = <Spec>(driver: Driver<Spec>): ImmediateDriver<Spec> => ({
  ...driver,
  createMachine: async (request, context) => final(await driver.createMachine(request, context)),
  deleteMachine: async (request, context) => final(await driver.deleteMachine(request, context)),
});
