//! Who sees an agent, and who changes it.

use serde_json::json;
use trove_domain::access::Role;

use super::{body, create, id_of, names, read, with};
use crate::server::{Answer, Client, Server};

/// Everything that can be done to an agent, as `method path body`.
async fn attempts(client: &Client<'_>, id: i64) -> Vec<Answer> {
    let path = format!("/api/persona/{id}");
    let admin = format!("/api/admin/persona/{id}");
    let mut answers = vec![
        client.get(&path).await,
        client.patch(&path, body("taken over")).await,
        client.patch(&format!("{path}/share"), json!({"user_ids": []})).await,
        client.patch(&format!("{path}/public"), json!({"is_public": true})).await,
        client.delete(&path).await,
        client.patch(&format!("{admin}/visible"), json!({"is_visible": false})).await,
        client.patch(&format!("{admin}/listed"), json!({"is_listed": false})).await,
        client.patch(&format!("{admin}/default"), json!({"is_default_persona": true})).await,
        client.patch(&format!("{admin}/featured"), json!({"is_featured": true})).await,
    ];
    for answer in &mut answers {
        answer.text = answer.text.replace(&id.to_string(), "N");
        answer.headers.clear();
    }
    answers
}

fn statuses(answers: &[Answer]) -> Vec<u16> {
    answers.iter().map(|answer| answer.status).collect()
}

/// CVE-2025-69221: another's agent, a deleted one and a missing one are the same to the byte.
#[tokio::test(flavor = "multi_thread")]
async fn cve_2025_69221_foreign_agents_look_like_missing_ones() {
    let server = Server::start().await;
    let owner = server.user("own@example.com", Role::Basic).await;
    let group = server.group("g", &[("own@example.com", true)]).await;
    let private = json!({"groups": [group.0]});
    let foreign = create(&owner, with(body("secret"), private)).await;
    let deleted = create(&owner, with(body("gone"), json!({"is_public": true}))).await;
    owner.delete(&format!("/api/persona/{deleted}")).await.ok();
    for role in Role::ALL {
        let client = server.user(&format!("{role}@example.com"), role).await;
        if role == Role::Curator || role == Role::GlobalCurator {
            server.group(role.as_str(), &[(&format!("{role}@example.com"), true)]).await;
        }
        let missing = attempts(&client, 990_001).await;
        let text = |answers: &[Answer]| -> Vec<(u16, String)> {
            answers.iter().map(|answer| (answer.status, answer.text.clone())).collect()
        };
        assert_eq!(text(&attempts(&client, deleted).await), text(&missing), "{role}");
        if role != Role::Admin {
            assert_eq!(text(&attempts(&client, foreign).await), text(&missing), "{role}");
            let listed = client.get("/api/persona").await.ok();
            assert_eq!(names(&listed), ["Assistant"], "{role}");
        }
        assert_eq!(missing[0].status, 404);
        missing[0].refused(404, "PERSONA_NOT_FOUND");
    }
    assert_eq!(statuses(&attempts(&server.nobody(), foreign).await), [401; 9]);
    let kept = read(&owner, foreign).await.ok();
    assert_eq!((&kept["name"], &kept["is_public"]), (&json!("secret"), &json!(false)));
}

/// 403, as it is no secret that there is one; and shares are for those who may change it.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_only_sees_an_agent_does_not_change_it() {
    let server = Server::start().await;
    let owner = server.user("own@example.com", Role::Basic).await;
    let shared = server.user("sha@example.com", Role::Basic).await;
    let member = server.user("mem@example.com", Role::Curator).await;
    let members = [("own@example.com", false), ("mem@example.com", false)];
    let group = server.group("g", &members).await;
    let shares = json!({"users": [id_of(&shared).await], "groups": [group.0]});
    let id = create(&owner, with(body("a"), shares)).await;
    for (client, admin) in [(&shared, 403), (&member, 403)] {
        let expected = [200, 403, 403, 403, 403, admin, admin, admin, admin];
        assert_eq!(statuses(&attempts(client, id).await), expected);
        let seen = read(client, id).await.ok();
        for hidden in ["users", "groups", "user_shares", "group_shares"] {
            assert_eq!(seen[hidden], json!([]), "{hidden}");
        }
        assert_eq!(seen["sharing_status"], "SHARED");
    }
    let own = read(&owner, id).await.ok();
    assert_eq!(own["user_shares"][0]["user"]["email"], "sha@example.com");
    assert_eq!(own["group_shares"][0]["group_id"], group.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_curator_changes_agents_of_its_groups_and_deletes_none_of_others() {
    let server = Server::start().await;
    let owner = server.user("own@example.com", Role::Basic).await;
    let curator = server.user("cur@example.com", Role::Curator).await;
    let members = [("own@example.com", false), ("cur@example.com", true)];
    let group = server.group("g", &members).await;
    let id = create(&owner, with(body("a"), json!({"groups": [group.0]}))).await;
    curator.patch(&format!("/api/persona/{id}"), body("b")).await.ok();
    let listed = json!({"is_listed": false});
    curator.patch(&format!("/api/admin/persona/{id}/listed"), listed).await.ok();
    let path = format!("/api/persona/{id}");
    curator.delete(&path).await.refused(403, "INSUFFICIENT_PERMISSIONS");
    let editable = curator.get("/api/admin/persona?get_editable=true").await.ok();
    assert_eq!(names(&editable), ["b"]);
    assert_eq!(read(&owner, id).await.ok()["is_visible"], false);
}
