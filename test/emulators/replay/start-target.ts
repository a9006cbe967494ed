import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { createArmEmulator } from "../arm/index.ts";
import { createEc2Emulator } from "../ec2/index.ts";
import { createGceEmulator } from "../gce/index.ts";
import type { RecordedExchange } from "./read-recording.ts";
import type { ReplayedAnswer, ReplayedRequest, ReplayTarget } from "./replay-recording.ts";
import { seedArm, seedEc2, seedGce } from "./seed-worlds.ts";

/** A target with a `close` function. */
export interface RunningTarget extends ReplayTarget {
  close(): Promise<void>;
}

const isLogin = ({ url, requestBody }: RecordedExchange): boolean =>
  /\/\/(oauth2|sts|iamcredentials|login|169\.254)\b|\/oauth2\/|\/token$|:generateAccessToken$/.test(url) ||
  requestBody.includes("Action=AssumeRole");

/**
 * Starts the emulator of a driver's cloud with a new world that has only the resources of the recording.
 *
 * @throws Error for a driver whose cloud has no emulator
 */
export async function startTarget(driver: string, exchanges: readonly RecordedExchange[]): Promise<RunningTarget> {
  const { emulator, authorization, ca } = emulatorFor(driver, exchanges);
  const { url: origin } = await emulator.listen();
  return {
    origin,
    isLogin,
    send: (request) => send({ ...request, headers: { ...request.headers, authorization: authorization() } }, ca),
    close: () => emulator.close(),
  };
}

function emulatorFor(driver: string, exchanges: readonly RecordedExchange[]) {
  switch (driver) {
    case "aws": {
      const emulator = createEc2Emulator();
      seedEc2(emulator.world, exchanges);
      return { emulator, authorization: () => signatureFor(exchanges), ca: undefined };
    }
    case "gcp": {
      const emulator = createGceEmulator();
      seedGce(emulator.world, exchanges);
      return { emulator, authorization: () => `Bearer ${emulator.token()}`, ca: undefined };
    }
    case "azure": {
      const emulator = createArmEmulator();
      seedArm(emulator.world, exchanges);
      return { emulator, authorization: () => "Bearer any", ca: emulator.ca };
    }
    default:
      throw new Error(`driver "${driver}" has no emulator; those of aws, gcp and azure have`);
  }
}

/** A signature that an emulator without access keys accepts. */
function signatureFor(exchanges: readonly RecordedExchange[]): string {
  const urls = exchanges.map(({ url }) => url).join("\n");
  const region = /\/\/ec2\.([a-z0-9-]+)\.amazonaws/.exec(urls)?.[1] ?? "eu-west-1";
  const scope = `20260101/${region}/ec2/aws4_request`;
  return `AWS4-HMAC-SHA256 Credential=AKIAREPLAY/${scope}, SignedHeaders=host, Signature=${"0".repeat(64)}`;
}

function send(request: ReplayedRequest, ca: string | undefined): Promise<ReplayedAnswer> {
  const { method, url, headers, body } = request;
  return new Promise((resolve, reject) => {
    const open = url.startsWith("https:") ? httpsRequest : httpRequest;
    const sent = open(url, { method, headers, ...(ca === undefined ? {} : { ca }) }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)])),
          body: Buffer.concat(chunks).toString("utf8"),
        }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
