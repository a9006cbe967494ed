import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import {
  DescribeImagesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  EC2Client,
} from "@aws-sdk/client-ec2";
import { createEc2Emulator } from "@millwright/emulators/ec2";
import { freePorts } from "../../tools/control-plane/free-port.ts";
import { eventually } from "../harness/eventually.ts";

/** A server that speaks EC2's protocol, with what a launch can name. */
export interface Ec2Server {
  readonly url: string;
  readonly ami: string;
  /** Another image of the same kind. */
  readonly otherAmi: string;
  readonly subnet: string;
  readonly securityGroup: string;
  close(): Promise<void>;
}

/** The region of all scenarios. */
export const region = "eu-west-1";

/** A client of the unmodified SDK, with its own retries: moto responds with status 500 when one of its threads lists what another one changes. */
export const clientOf = (url: string): EC2Client =>
  new EC2Client({ region, endpoint: url, credentials: { accessKeyId: "AKIA1", secretAccessKey: "s" } });

/** Our emulator. */
export async function startEmulator(): Promise<Ec2Server> {
  const images = { "ami-1": { rootDeviceName: "/dev/xvda" }, "ami-2": { rootDeviceName: "/dev/xvda" } };
  const emulator = createEc2Emulator({ images });
  const { url } = await emulator.listen();
  return {
    url,
    ami: "ami-1",
    otherAmi: "ami-2",
    subnet: "subnet-a",
    securityGroup: "sg-1",
    close: () => emulator.close(),
  };
}

/**
 * The command of moto, a third-party emulator; `test/emulators/ec2/README.md` describes its installation.
 */
const motoCommand = process.env["MOTO_SERVER"] ?? join(homedir(), ".cache/millwright/moto/bin/moto_server");

/** Whether moto is installed here. */
export const hasMoto = existsSync(motoCommand);

/** Starts moto with a profile `nodes`; images, subnets and groups are its own. */
export async function startMoto(): Promise<Ec2Server> {
  const [port = 0] = await freePorts(1);
  const child: ChildProcess = spawn(motoCommand, ["-H", "127.0.0.1", "-p", String(port)], { stdio: "ignore" });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  const signed = (service: string) =>
    `AWS4-HMAC-SHA256 Credential=AKIA1/20260101/${region}/${service}/aws4_request, SignedHeaders=host, Signature=${"0".repeat(64)}`;
  const create = new URLSearchParams({
    Action: "CreateInstanceProfile",
    Version: "2010-05-08",
    InstanceProfileName: "nodes",
  });
  await eventually(async () => {
    const answer = await fetch(url, { method: "POST", body: create, headers: { authorization: signed("iam") } });
    if (!answer.ok) throw new Error(`moto answered ${answer.status}`);
  }, 60_000);
  const client = clientOf(url);
  const { Images } = await client.send(new DescribeImagesCommand({}));
  const { Subnets } = await client.send(new DescribeSubnetsCommand({}));
  const { SecurityGroups } = await client.send(new DescribeSecurityGroupsCommand({}));
  client.destroy();
  const [ami, otherAmi] =
    Images?.flatMap(({ RootDeviceName, ImageId }) => (RootDeviceName === undefined ? [] : [ImageId])) ?? [];
  return {
    url,
    ami: ami ?? "",
    otherAmi: otherAmi ?? "",
    subnet: Subnets?.[0]?.SubnetId ?? "",
    securityGroup: SecurityGroups?.[0]?.GroupId ?? "",
    async close() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
