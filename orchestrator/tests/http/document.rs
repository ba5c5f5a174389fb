//! The OpenAPI document against the service it describes.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::client::Request;
use crate::server::start;

#[test]
fn every_route_is_documented_and_every_documented_route_is_there() {
    let server = start(&[]);
    let document = server.get("/v1/openapi.json").expect(200).json();
    let mut documented = BTreeSet::new();
    for (path, item) in document["paths"].as_object().expect("paths") {
        for (method, operation) in item.as_object().expect("operations") {
            let method = method.to_uppercase();
            documented.insert(format!("{method} {path}"));
            assert!(
                operation["operationId"].is_string() && operation["summary"].is_string(),
                "{method} {path}"
            );
            for (status, response) in operation["responses"].as_object().expect("responses") {
                let told = response["description"].is_string() || response["$ref"].is_string();
                assert!(told, "{method} {path}: {status} has to have a description");
            }
            let path = path.replace("{id}", &"0".repeat(64));
            let answer = server.send(Request::new(&method, &path));
            let text = String::from_utf8_lossy(&answer.body);
            assert!(!text.contains("\"not_found\"") && answer.status != 405, "{method} {path}: {text}");
        }
    }
    let wanted = "\
        GET /healthz\nGET /metrics\nGET /readyz\nGET /version\n\
        POST /v1/scenes\nGET /v1/scenes\nGET /v1/scenes/{id}\nDELETE /v1/scenes/{id}\n\
        POST /v1/environments\nGET /v1/environments\nGET /v1/environments/{id}\nDELETE /v1/environments/{id}\n\
        POST /v1/frames\nGET /v1/scenes/{id}/frame.png\nHEAD /v1/scenes/{id}/frame.png\n\
        GET /v1/scenes/{id}/frame.exr\nHEAD /v1/scenes/{id}/frame.exr\n\
        GET /v1/scenes/{id}/frame.webp\nHEAD /v1/scenes/{id}/frame.webp\n\
        GET /v1/scenes/{id}/frame.jpg\nHEAD /v1/scenes/{id}/frame.jpg\n\
        POST /v1/sequences\nPOST /v1/batches\n\
        GET /v1/jobs/{id}\nDELETE /v1/jobs/{id}\nGET /v1/jobs/{id}/events\nGET /v1/jobs/{id}/result";
    assert_eq!(documented, wanted.lines().map(str::to_owned).collect());
}

#[test]
fn every_reference_in_the_document_leads_somewhere() {
    let document: Value = serde_json::from_str(&isoframe::http::openapi_json()).expect("JSON");
    let mut references = 0;
    let mut stack = vec![&document];
    while let Some(value) = stack.pop() {
        if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
            references += 1;
            let pointer = reference.strip_prefix('#').expect("inside the document");
            assert!(document.pointer(pointer).is_some(), "{reference}");
        }
        match value {
            Value::Object(fields) => stack.extend(fields.values()),
            Value::Array(entries) => stack.extend(entries),
            _ => {}
        }
    }
    assert!(references > 50, "{references}");
    assert!(document["openapi"].as_str().expect("a version").starts_with("3.1"));
}

#[test]
fn problems_are_explained_where_their_type_points() {
    let server = start(&[]);
    let answer = server.get("/v1/nothing");
    let page = server.get(answer.json()["type"].as_str().expect("a type")).expect(200);
    assert!(page.text().contains("There is nothing here"));
    server.get("/problems/none-such").expect_problem(404, "not_found");
    let docs = server.get("/docs").expect(200).text();
    assert!(
        docs.contains("/v1/openapi.json") && !docs.contains("https://cdn"),
        "one page, nothing from elsewhere"
    );
    assert_eq!(server.get("/").expect(303).header("location").as_deref(), Some("/docs"));
}
