"""Receives spans by OTLP over HTTP, decodes them with OpenTelemetry's own classes, and appends each to a file as
a JSON line. Prints its port when it listens."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status


def value(of):
    kind = of.WhichOneof("value")
    return getattr(of, kind) if kind else None


def attributes(pairs):
    return {pair.key: value(pair.value) for pair in pairs}


def span(it, resource, headers):
    return {
        "name": it.name,
        "trace": it.trace_id.hex(),
        "span": it.span_id.hex(),
        "parent": it.parent_span_id.hex(),
        "kind": Span.SpanKind.Name(it.kind).removeprefix("SPAN_KIND_").lower(),
        "start": it.start_time_unix_nano,
        "end": it.end_time_unix_nano,
        "status": Status.StatusCode.Name(it.status.code).removeprefix("STATUS_CODE_").lower(),
        "message": it.status.message,
        "attributes": attributes(it.attributes),
        "events": [
            {"name": event.name, "attributes": attributes(event.attributes)} for event in it.events
        ],
        "resource": resource,
        "headers": headers,
    }


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path != "/v1/traces":
            self.send_error(404)
            return
        if self.headers["Content-Type"] == "application/json":
            # The ids of OTLP's JSON are hexadecimal, which protobuf's own JSON is not.
            with open(sys.argv[1] + ".json", "a", encoding="utf-8") as file:
                file.write(json.dumps(json.loads(body)) + "\n")
        else:
            request = ExportTraceServiceRequest.FromString(body)
            headers = {name.lower(): text for name, text in self.headers.items()}
            with open(sys.argv[1], "a", encoding="utf-8") as file:
                for resource in request.resource_spans:
                    about = attributes(resource.resource.attributes)
                    for scope in resource.scope_spans:
                        for it in scope.spans:
                            file.write(json.dumps(span(it, about, headers)) + "\n")
        answer = ExportTraceServiceResponse().SerializeToString()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-protobuf")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_address[1], flush=True)
server.serve_forever()
