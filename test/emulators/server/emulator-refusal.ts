import type { Refusal } from "./emulator.ts";

/** An error response, thrown by the actions of an emulator before any change. Each cloud has its own class. */
export class EmulatorRefusal extends Error implements Refusal {
  readonly code: string;
  declare readonly status?: number;

  constructor(code: string, message: string, status?: number) {
    super(message);
    this.code = code;
    if (status !== undefined) this.status = status;
  }
}
