#include "schema_texts.hpp"

namespace sagekit::host {

std::string_view policy_schema() {
  return R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "sagekit policy file",
  "type": "object",
  "required": ["schema"],
  "additionalProperties": false,
  "properties": {
    "schema": {"const": 1},
    "base": {"enum": ["own", "others", "pypi"], "description": "what holds where nothing else is said"},
    "require": {"type": "array", "items": {"type": "string", "pattern": "^[A-Z]{2,4}$"},
                "description": "families whose checks must be made"},
    "severity": {"type": "object", "additionalProperties": {"enum": ["error", "warning", "note", "off"]},
                 "description": "a code or a family, and what it weighs"},
    "options": {"type": "object", "additionalProperties": false, "properties": {
      "stale_waivers": {"enum": ["error", "warning", "note"], "default": "warning"}}},
    "waiver": {"type": "array", "items": {
      "type": "object", "required": ["code", "reason", "until"], "additionalProperties": false,
      "properties": {
        "code": {"type": "string", "minLength": 1, "description": "a code or a family"},
        "where": {"type": "string", "description": "glob over the finding's place"},
        "wheel": {"type": "string", "description": "glob over the wheel's file name"},
        "reason": {"type": "string", "pattern": "\\S"},
        "until": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "description": "the last day on which it holds"}}}}
  }
}
)";
}

std::string_view lock_schema() {
  return R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "sagekit.lock",
  "type": "object",
  "required": ["version"],
  "additionalProperties": false,
  "properties": {
    "version": {"const": 1},
    "tree": {"type": "array", "items": {
      "type": "object", "required": ["kind", "version", "cuda", "platform", "source", "id"], "additionalProperties": false,
      "properties": {
        "kind": {"enum": ["nvcc", "torch"]},
        "version": {"type": "string"}, "cuda": {"type": "string"}, "platform": {"type": "string"},
        "source": {"type": "string"},
        "id": {"type": "string", "pattern": "^[^./][^/]*$"},
        "file": {"type": "array", "items": {
          "type": "object", "required": ["project", "version", "name"], "additionalProperties": false,
          "properties": {
            "project": {"type": "string"}, "version": {"type": "string"}, "name": {"type": "string"},
            "size_bytes": {"type": "integer", "minimum": 1},
            "sha256": {"$ref": "#/$defs/sha256"},
            "record_sha256": {"$ref": "#/$defs/sha256"},
            "directory_sha256": {"$ref": "#/$defs/sha256"}}}},
        "exports": {"type": "array", "items": {
          "type": "object", "required": ["library"], "additionalProperties": false,
          "properties": {"library": {"type": "string"}, "sha256": {"$ref": "#/$defs/sha256"}}}}}}}
  },
  "$defs": {"sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"}}
}
)";
}

std::string_view verify_schema() {
  return R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "sagekit verify --json",
  "type": "object",
  "required": ["schema", "wheels", "stale_waivers", "errors"],
  "properties": {
    "schema": {"const": "sagekit.verify/1"},
    "wheels": {"type": "array", "items": {
      "type": "object",
      "required": ["path", "sha256", "verdict", "policy", "kind", "findings", "skipped", "runs_on"],
      "properties": {
        "path": {"type": "string"},
        "sha256": {"type": "string", "pattern": "^([0-9a-f]{64})?$"},
        "verdict": {"enum": ["pass", "fail"]},
        "policy": {"type": "string"},
        "kind": {"enum": ["wheel", "unpacked", "installed", "folder"]},
        "skipped": {"type": "integer", "minimum": 0},
        "findings": {"type": "array", "items": {
          "type": "object", "required": ["code", "severity", "result", "message", "where", "hint"],
          "properties": {
            "code": {"type": "string", "minLength": 1},
            "severity": {"enum": ["error", "warning", "note"]},
            "result": {"enum": ["pass", "fail", "warn", "skipped", "waived"]},
            "message": {"type": "string"}, "where": {"type": "string"}, "hint": {"type": "string"},
            "waived": {"type": "object", "required": ["reason", "until"],
                       "properties": {"reason": {"type": "string"}, "until": {"type": "string"}}}}}},
        "runs_on": {"type": "array", "items": {
          "type": "object", "required": ["capability", "gpus", "verdict", "modules", "reason"],
          "properties": {
            "capability": {"type": "string", "pattern": "^[0-9]+\\.[0-9]+$"},
            "gpus": {"type": "array", "items": {"type": "string"}},
            "verdict": {"enum": ["yes", "jit", "part", "no", "unknown"]},
            "reason": {"type": "string"}, "driver": {"type": "string"}, "driver_system": {"enum": ["linux", "windows", ""]}, "toolkit": {"type": "string"}}}}}}},
    "stale_waivers": {"type": "array", "items": {
      "type": "object", "required": ["code", "severity", "message", "file", "line"]}},
    "errors": {"type": "array", "items": {
      "type": "object", "required": ["code", "message", "where", "hint"],
      "properties": {"code": {"type": "string"}, "message": {"type": "string"},
                     "where": {"type": "string"}, "hint": {"type": "string"}}}}
  }
}
)";
}

}  // namespace sagekit::host
