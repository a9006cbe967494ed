import { type Clock, MachineError, orAborted } from "@millwright/core";
import { fieldOf } from "@millwright/core/driver-kit";
import { NoAnswer, readFailure } from "./gce-failure.ts";

/**
 * An access token by the file that `GOOGLE_APPLICATION_CREDENTIALS` names, of any type that Google's library reads, and the seconds that it is good for. The file is read each time: what is in it may change.
 *
 * @throws MachineError Unauthenticated when the file cannot be used; otherwise as `sendRequest`
 */
export async function tokenOfFile(
  scope: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ readonly value: unknown; readonly lifeS: unknown }> {
  const path = process.env["GOOGLE_APPLICATION_CREDENTIALS"] ?? "";
  const service = `the token service of GOOGLE_APPLICATION_CREDENTIALS (${path})`;
  const getToken = async () => {
    const { GoogleAuth } = await import("google-auth-library");
    const client = await new GoogleAuth({ scopes: [scope] }).getClient();
    const { token } = await client.getAccessToken();
    return { token, expiryDate: client.credentials.expiry_date };
  };
  try {
    const { token, expiryDate } = await orAborted(signal, getToken());
    const lifeS = typeof expiryDate === "number" ? (expiryDate - clock.now().getTime()) / 1_000 : undefined;
    return { value: token, lifeS };
  } catch (error) {
    if (signal.aborted) throw error;
    const response = fieldOf(error, "response");
    const status = fieldOf(response, "status");
    if (typeof status === "number") {
      const failure = readFailure(status, new Headers(), JSON.stringify(fieldOf(response, "data") ?? ""));
      failure.service = service;
      throw failure;
    }
    // A request that got no answer has its settings.
    if (fieldOf(error, "config") !== undefined) throw new NoAnswer(service, error);
    // The message of a parser would repeat a part of the file.
    const code = fieldOf(error, "code");
    const why = typeof code === "string" ? ` (${code})` : "";
    throw new MachineError(
      "Unauthenticated",
      `the file of GOOGLE_APPLICATION_CREDENTIALS, ${path}, cannot be read, or is none of credentials${why}`,
      { cause: error },
    );
  }
}
