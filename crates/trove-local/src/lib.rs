mod encoder;
mod model_files;
mod weights;
#[doc(hidden)]
pub mod dev {
    use crate::{encoder, weights};
    pub fn run(path: &std::path::Path, seqs: usize, len: usize, reps: usize) {
        let t = std::time::Instant::now();
        let mut w = weights::Weights::read(path).unwrap();
        println!("read {:?} {}", t.elapsed(), w.sha256());
        let e = encoder::Encoder::new(&mut w).unwrap();
        println!("packed {:?}", t.elapsed());
        let mut s = encoder::Scratch::default();
        let ids: Vec<Vec<u32>> = (0..seqs).map(|i| { let mut v: Vec<u32> = (0..len as u32).map(|j| 2000 + (i as u32 * 977 + j * 37) % 20000).collect(); v[0]=101; v[len-1]=102; v }).collect();
        let refs: Vec<&[u32]> = ids.iter().map(|v| &v[..]).collect();
        let out = e.encode(&refs, &mut s, &|| {});
        println!("{:?}", &out[0][..4]);
        let mut best = f64::MAX; let mut tot=0.0;
        for _ in 0..reps { let t = std::time::Instant::now(); e.encode(&refs, &mut s, &|| {}); let d=t.elapsed().as_secs_f64(); tot+=d; best = best.min(d); }
        println!("best {:.2} ms = {:.1}/s ; mean {:.1}/s", best*1e3, seqs as f64 / best, seqs as f64*reps as f64/tot);
    }
}
