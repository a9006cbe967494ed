import type { EmulatorServer } from "@millwright/emulators/server";

/** Stops an emulator; its own errors fail the test. */
export async function closeEmulator({ close, failures }: EmulatorServer): Promise<void> {
  await close();
  if (failures.length > 0) throw new Error("the emulator failed", { cause: failures[0] });
}
