import * as z from "zod";
import { CloudError } from "./cloud-error.ts";
import { type MockCloud, powerActions } from "./cloud.ts";
import { faultRuleSchema } from "./fault.ts";
import { machineTypeNames } from "./machine-type.ts";
import { vmStates } from "./vm.ts";

/** A request as the routes see it. */
export interface CloudRequest {
  readonly method: string;
  readonly url: URL;
  /** Parsed JSON; undefined when there was none. */
  readonly body: unknown;
  readonly signal: AbortSignal;
}

const texts = z.record(z.string(), z.string());
const filterSchema = z.strictObject({ tags: texts.exactOptional(), states: z.array(z.enum(vmStates)).exactOptional() });
const createSchema = z.strictObject({
  name: z.string(),
  token: z.string(),
  machineType: z.enum(machineTypeNames),
  region: z.string(),
  zone: z.string(),
  image: z.string(),
  labels: texts.exactOptional(),
  tags: texts.exactOptional(),
  userData: z.base64().exactOptional(),
  bootDelayMs: z.number().exactOptional(),
});
const tagsSchema = z.strictObject({ tags: texts });
const powerSchema = z.strictObject({ action: z.enum(powerActions) });

/** Carries out one request; gives the body of the answer. Fails with `CloudError`. */
export async function handleCloudRequest(cloud: MockCloud, request: CloudRequest): Promise<object> {
  const { method, url, signal } = request;
  const [version, collection, ref, action, ...more] = url.pathname.split("/").slice(1).map(decodeSegment);
  const route = `${method} ${collection ?? ""}${ref === undefined ? "" : "/:ref"}${action === undefined ? "" : `/${action}`}`;
  if (version !== "v1" || more.length > 0) throw unknownRoute(request);
  const call = { signal };
  switch (route) {
    case "GET vms":
      return { vms: await cloud.listVms(readFilter(url.searchParams.get("filter")), call) };
    case "POST vms": {
      const { userData, ...input } = read(createSchema, request.body);
      const bytes = userData === undefined ? {} : { userData: Uint8Array.from(Buffer.from(userData, "base64")) };
      return { vm: await cloud.createVm({ ...input, ...bytes }, call) };
    }
    case "GET vms/:ref":
      return { vm: await cloud.getVm(ref ?? "", call) };
    case "DELETE vms/:ref":
      return { vm: await cloud.deleteVm(ref ?? "", call) };
    case "PATCH vms/:ref/tags":
      return { vm: await cloud.tagVm(ref ?? "", read(tagsSchema, request.body).tags, call) };
    case "POST vms/:ref/power":
      return { vm: await cloud.powerVm(ref ?? "", read(powerSchema, request.body).action, call) };
    case "GET vms/:ref/user-data":
      return { userData: Buffer.from(await cloud.readUserData(ref ?? "", call)).toString("base64") };
    case "GET changes":
      return cloud.changes(readCursor(url.searchParams), {
        ...call,
        waitMs: readNumber(url.searchParams, "waitMs") ?? 0,
      });
    case "GET faults":
      return { faults: await cloud.listFaults(call) };
    case "POST faults":
      return { fault: await cloud.addFault(read(faultRuleSchema, request.body), call) };
    case "DELETE faults":
      await cloud.clearFaults(call);
      return {};
    case "GET calls":
      return { counts: await cloud.countCalls(call) };
    case "GET healthz":
      return { status: "ok" };
    default:
      throw unknownRoute(request);
  }
}

function readFilter(text: string | null): z.output<typeof filterSchema> | undefined {
  if (text === null) return undefined;
  try {
    return read(filterSchema, JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) throw new CloudError("InvalidArgument", "filter: must be JSON");
    throw error;
  }
}

function readCursor(query: URLSearchParams): { epoch?: string; revision?: number } {
  const epoch = query.get("epoch");
  const revision = readNumber(query, "revision");
  return { ...(epoch === null ? {} : { epoch }), ...(revision === undefined ? {} : { revision }) };
}

function readNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new CloudError("InvalidArgument", `${name}: must be a whole number`);
  return Number(text);
}

function read<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const path = issue?.path.join(".") ?? "";
  throw new CloudError("InvalidArgument", `${path === "" ? "request" : path}: ${issue?.message ?? "is not valid"}`);
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new CloudError("InvalidArgument", "the path is not well encoded");
  }
}

function unknownRoute(request: CloudRequest): CloudError {
  return new CloudError("Unimplemented", `there is no ${request.method} ${request.url.pathname.slice(0, 200)}`);
}
